"""The commands of `skill2real`, by what they are for: each reads its words, calls the parts, prints."""
