// The words of one turn. They appear at the chosen speed; when the text changes, what still holds stays.
// One speech appears after the other: `order` holds those that have not appeared as a whole.
const order = [];

export default {
  template: `<p class="speech" :class="{ live }" dir="auto" :aria-hidden="live ? 'true' : null"
    >{{ shown }}<span v-if="live" class="caret"></span></p>`,
  props: { text: String, live: Boolean, pace: Number, voice: Object },
  data() {
    return { shown: this.pace ? "" : this.text };
  },
  mounted() {
    this.reveal();
    if (!this.live && this.pace) this.speak();
  },
  beforeUnmount() {
    this.stop();
  },
  watch: {
    text() {
      let same = 0;
      while (same < this.shown.length && this.shown[same] === this.text[same]) same += 1;
      this.shown = this.text.slice(0, same);
      this.reveal();
    },
    live(now) {
      if (!now) this.speak();
    },
  },
  methods: {
    reveal() {
      clearInterval(this.ticking);
      if (!this.pace || matchMedia("(prefers-reduced-motion: reduce)").matches) {
        this.shown = this.text;
        return;
      }
      if (!order.includes(this)) order.push(this);
      let last = performance.now();
      this.ticking = setInterval(() => {
        const now = performance.now();
        if (order[0] === this) {
          const count = this.shown.length + Math.ceil(((now - last) / 1000) * this.pace);
          this.shown = this.text.slice(0, count);
          if (this.shown === this.text && !this.live) this.stop();
        }
        last = now;
      }, 40);
    },
    stop() {
      clearInterval(this.ticking);
      if (order.includes(this)) order.splice(order.indexOf(this), 1);
    },
    speak() {
      if (!this.voice || !("speechSynthesis" in window)) return;
      const said = new SpeechSynthesisUtterance(this.text);
      said.lang = this.voice.language;
      said.pitch = this.voice.pitch;
      const voices = speechSynthesis.getVoices().filter((voice) => voice.lang.startsWith(this.voice.language));
      if (voices.length) said.voice = voices[this.voice.number % voices.length];
      speechSynthesis.speak(said);
    },
  },
};
