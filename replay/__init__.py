"""What a ledger says: folds over events, the state at any point, differences and audits."""
