"""What stands below the last turn of a story: how it ended, and its transcript."""

from __future__ import annotations

from dramaturg.stage.transcript import Transcript
from dramaturg.stage.world.play import CONCLUDED
from dramaturg.stage.world.world import REACTION
from dramaturg.web.elements import link, tag
from dramaturg.web.frame import Visit
from dramaturg.web.world.live_story import LiveStory


class Curtain:
    """The end of a story's page; empty until the story has ended."""

    def __init__(self, live: LiveStory, visit: Visit) -> None:
        """Shows nothing yet.

        Args:
            live: The story.
            visit: Who looks.
        """
        self._live = live
        self._say = visit.words
        self._shown: Transcript | None = None
        self._box = tag("div", classes="feed-turns", style="margin-top: 1.5rem")

    def refresh(self) -> None:
        """Shows how the story ended, once it has."""
        transcript = self._live.transcript if self._live.state == "ended" else None
        if transcript is self._shown:
            return
        self._shown = transcript
        self._box.clear()
        if transcript is not None:
            with self._box:
                self._ending(transcript)

    def _ending(self, transcript: Transcript) -> None:
        say = self._say
        concluded = transcript.outcome is not None and transcript.outcome.label == CONCLUDED
        acts = [turn for turn in transcript.turns if turn.kind == "action" and REACTION not in turn.flags]
        hits = sum(any(flag.startswith("target:") for flag in turn.flags) for turn in acts)
        own = sum(turn.human for turn in transcript.turns)
        address = f"/games/{self._live.game.id}/transcript"
        with tag("section", classes=f"verdict {'win' if concluded else ''}", aria_label=say("stage.over")):
            tag("p", say("stage.over"), "small soft")
            tag("h2", say(f"endings.{transcript.end_reason}"))
            with tag("p", classes="soft"):
                tag("span", say("stage.figures", acts=len(acts), hits=hits, mended=len(transcript.cures)))
                if own:
                    tag("span", f" {say('stage.own_turns', count=own)}")
            with tag("div", classes="inner"):
                with tag("p"):
                    link(say("stage.transcript"), address, "button primary", download=True)
                tag("p", say("stage.rate"), "small soft")
                tag("code", f"dramaturg rate {self._live.game.id}.jsonl --judge SPEC --out DIR", "command")
