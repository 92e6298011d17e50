"""The real client library in a process of its own: a call that blocks fails the test instead of hanging
it."""

import multiprocessing as mp
import os

DEADLINE = 20.0  # s


def _serve(pipe, address, kinds):
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    from dashboard_client import DashboardClient
    from rtde_control import RTDEControlInterface
    from rtde_io import RTDEIOInterface
    from rtde_receive import RTDEReceiveInterface

    made = {}
    try:
        for kind in kinds:
            if kind == "dashboard":
                made[kind] = DashboardClient(address)
                made[kind].connect()
            elif kind == "upper":  # a control interface that uses the other half of the registers
                flags = (
                    RTDEControlInterface.FLAG_UPLOAD_SCRIPT | RTDEControlInterface.FLAG_UPPER_RANGE_REGISTERS
                )
                made["control"] = RTDEControlInterface(address, 500.0, flags)
            else:
                types = {
                    "receive": RTDEReceiveInterface,
                    "control": RTDEControlInterface,
                    "io": RTDEIOInterface,
                }
                made[kind] = types[kind](address)
        pipe.send(("", None))
        while True:
            kind, name, arguments = pipe.recv()
            try:
                value = getattr(made[kind], name)(*arguments)
                if name == "getAsyncOperationProgressEx":
                    value = (value.isAsyncOperationRunning(), value.operationId(), value.progress())
                pipe.send(("", value))
            except Exception as error:
                pipe.send((f"{type(error).__name__}: {error}", None))
    except (EOFError, OSError):
        pass
    except Exception as error:
        pipe.send((f"{type(error).__name__}: {error}", None))
    finally:
        os._exit(0)


class RealClient:
    """kinds: of "receive", "control", "upper", "io", "dashboard", in the order in which they connect."""

    def __init__(self, address, *kinds):
        context = mp.get_context("spawn")
        self._pipe, far = context.Pipe()
        self.process = context.Process(target=_serve, args=(far, address, kinds), daemon=True)
        self.process.start()
        far.close()
        try:
            self._answer("connecting")
        except BaseException:
            self.close()
            raise

    def __call__(self, kind, name, *arguments):
        self._pipe.send((kind, name, arguments))
        return self._answer(name)

    def control(self, name, *arguments):
        return self("control", name, *arguments)

    def receive(self, name, *arguments):
        return self("receive", name, *arguments)

    def _answer(self, asked):
        if not self._pipe.poll(DEADLINE):
            self.close()
            raise TimeoutError(f"{asked} did not return")
        error, value = self._pipe.recv()
        if error:
            raise RuntimeError(error)
        return value

    def close(self):
        self.process.kill()
        self.process.join(5)
        self._pipe.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()
