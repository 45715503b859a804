"""The steady cast and a scripted judge; every request is noted in a file before it is answered."""

import json
import os
import random
import time

from dramaturg.model.request import Request
from dramaturg.model.script import open_script
from dramaturg.model.spec import parse_spec

_STEADY = open_script(parse_spec("script:court-steady"))


def reply(request: Request) -> str:
    with open(os.environ["DRAMATURG_TEST_ASKED"], "a", encoding="utf-8") as asked:
        asked.write(f"{request.seed}\n")
    time.sleep(float(os.environ.get("DRAMATURG_TEST_DELAY_S", "0.002")))
    if request.labels["purpose"] != "indicator":
        return _STEADY.answer(request)[0].text
    answer = random.Random(request.seed).choice(["yes", "no"])
    return json.dumps({"reasoning": f"Seed {request.seed}.", "answer": answer, "evidence": ["T4"]})
