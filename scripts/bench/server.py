"""llama-server, driven as a client would: over HTTP, several requests at a time."""

import json
import random
import socket
import subprocess
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

from tools import HOME, Failure


def tokens(count, seed):
    """Random tokens, special ones left out; the same for the same seed."""
    generator = random.Random(seed)
    return [generator.randrange(1_000, 40_000) for _ in range(count)]


class Server:
    """A llama-server of its own, for as long as a `with` block lasts."""

    def __init__(self, folder, model, threads, slots, context, *options):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.slots = slots
        self.log = open(HOME / "llama-server.log", "w")
        self.process = subprocess.Popen(
            [str(part) for part in (
                folder / "llama-server", "-m", model, "-t", threads, "-np", slots, "-c", context,
                "--host", "127.0.0.1", "--port", self.port, "--no-ui", *options)],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT)

    def __enter__(self):
        for _ in range(600):
            if self.process.poll() is not None:
                break
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health") as answer:
                    if answer.status == 200:
                        return self
            except OSError:
                time.sleep(0.1)
        self.__exit__()
        raise Failure(f"llama-server does not answer: see {self.log.name}")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.log.close()

    def complete(self, prompt, new, **options):
        body = {"prompt": prompt, "n_predict": new, "temperature": 0, "ignore_eos": True,
                "cache_prompt": True, "stream": False, **options}
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/completion", data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            reply = json.load(answer)
        if reply["tokens_predicted"] != new:
            raise Failure(f"llama-server sent {reply['tokens_predicted']} tokens, expected {new}")
        return reply

    def complete_all(self, prompts, new, **options):
        """Seconds until all are answered, as many at a time as there are slots."""
        with ThreadPoolExecutor(self.slots) as pool:
            start = time.monotonic()
            list(pool.map(lambda prompt: self.complete(prompt, new, **options), prompts))
            return time.monotonic() - start

    def essay(self, seed, prefix, own, paragraphs, new, lead):
        """Seconds for the prompts of an essay that the server has not seen. With `lead`
        the client sends the first prompt alone, so that its beginning is in the cache when
        the others come."""
        beginning = tokens(prefix, seed)
        prompts = [beginning + tokens(own, f"{seed}/{index}") for index in range(paragraphs)]
        if not lead:
            return self.complete_all(prompts, new)
        return self.complete_all(prompts[:1], new) + self.complete_all(prompts[1:], new)
