"""A server on a free port of this machine, with a worker that does its jobs, for tests of the command line."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import uvicorn

from ziggurat.errors import UnavailableError
from ziggurat.service import ServiceSettings, make_app, welcome
from ziggurat.service._house import ServiceHouse


class ServedHouse:
    """A service in a thread; with `work`, another does what is to be done for long, as a worker does."""

    def __init__(self, folder: Path, *, work: bool = False, **said: Any) -> None:
        given = {"folder": folder, "slot": 0.05, "job_slot": 0.05, **said}
        settings = ServiceSettings.read(given, {})
        self.secret = welcome(settings)
        self.house = ServiceHouse(settings)
        self.server = uvicorn.Server(
            uvicorn.Config(make_app(house=self.house), host="127.0.0.1", port=0, log_config=None, lifespan="on")
        )
        self.stopping = threading.Event()
        self.threads = [threading.Thread(target=self.server.run)]
        if work:
            self.house.beat()
            self.threads.append(threading.Thread(target=self.work))
        for thread in self.threads:
            thread.start()
        while not self.server.started:
            time.sleep(0.01)
        port = self.server.servers[0].sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"

    def work(self) -> None:
        """Do jobs until the end, each in a process of its own."""
        from ziggurat.service.work._doing import JobHand

        hand = JobHand(self.house.jobs, self.house.settings, self.house.worker, self.stopping)
        while not self.stopping.wait(0.05):
            try:
                for identity, turn in self.house.jobs.waiting():
                    hand.do(identity, turn)
            except UnavailableError:
                continue

    def close(self) -> None:
        self.server.should_exit = True
        self.stopping.set()
        for thread in self.threads:
            thread.join()
        self.house.close()
