"""Ask a model.

In: a spec string and requests. Out: replies with a status; structured answers; embeddings.
Nothing else in the project opens a connection to a model.
"""

from dramaturg.model.model import Identity, Model, ModelFacts, OnText
from dramaturg.model.reply import Asked, Reply, ReplyStatus, TokenLogprob, Usage
from dramaturg.model.request import AnswerSchema, Message, Request, Sampling
from dramaturg.model.spec import ModelSpec, parse_spec

__all__ = [
    "AnswerSchema",
    "Asked",
    "Identity",
    "Message",
    "Model",
    "ModelFacts",
    "ModelSpec",
    "OnText",
    "Reply",
    "ReplyStatus",
    "Request",
    "Sampling",
    "TokenLogprob",
    "Usage",
    "parse_spec",
]
