// Where the person writes. The text stays in the browser until the server has taken it; a draft survives a reload.
export default {
  template: `
    <form class="composer" :class="{ open }" @submit.prevent="send">
      <label class="unseen" :for="field">{{ words.say }}</label>
      <textarea ref="box" :id="field" v-model="text" rows="2" dir="auto" :placeholder="words.say_hint"
        :aria-describedby="field + '-notice'" @keydown.enter.exact="enter" @input="typed"></textarea>
      <div class="composer-row">
        <button type="button" class="button objection" v-if="mayObject" @click="insert(words.objection_word + ' ')"
          :title="words.object_hint" aria-keyshortcuts="Alt+O">{{ words.object }}</button>
        <button type="button" class="button quiet" v-if="mayRest" @click="insert(words.rest_word)"
          :title="words.rest_hint">{{ words.rest }}</button>
        <button type="button" class="button quiet" v-if="canDictate" @click="dictate" :aria-pressed="listening"
          >{{ listening ? words.listening : words.dictate }}</button>
        <span class="composer-notice" :id="field + '-notice'" role="status">{{ notice }}</span>
        <button type="submit" class="button primary" :disabled="!open">{{ words.send }}</button>
      </div>
    </form>`,
  props: {
    open: Boolean,
    turn: Number,
    mayObject: Boolean,
    mayRest: Boolean,
    words: Object,
    heard: Number,
    most: Number,
    language: String,
    dictation: Boolean,
    draft: String,
  },
  data() {
    return { text: sessionStorage.getItem(this.draft) ?? "", said: "", asked: false, listening: false };
  },
  computed: {
    field() {
      return `words-${this.draft}`;
    },
    canDictate() {
      return this.dictation && ("SpeechRecognition" in window || "webkitSpeechRecognition" in window);
    },
    notice() {
      if (this.said) return this.said;
      if (this.text.length > this.most) return this.words.too_long;
      return this.text.length > this.heard ? this.words.long : "";
    },
  },
  watch: {
    open(now) {
      this.said = "";
      this.asked = false;
      if (now && (document.activeElement === document.body || !document.activeElement)) this.$refs.box.focus();
    },
  },
  mounted() {
    this.onInsert = (event) => this.insert(event.detail);
    this.onKey = (event) => {
      if (event.altKey && event.code === "KeyO" && this.mayObject) {
        event.preventDefault();
        this.insert(this.words.objection_word + " ");
      }
    };
    window.addEventListener("dramaturg-insert", this.onInsert);
    window.addEventListener("keydown", this.onKey);
    this.fit();
    if (this.open) this.$refs.box.focus({ preventScroll: true });
  },
  beforeUnmount() {
    window.removeEventListener("dramaturg-insert", this.onInsert);
    window.removeEventListener("keydown", this.onKey);
    this.recognition?.stop();
  },
  methods: {
    typed() {
      this.said = "";
      this.asked = false;
      this.keep();
      this.fit();
    },
    keep() {
      if (this.text.length <= this.most) sessionStorage.setItem(this.draft, this.text);
    },
    fit() {
      const box = this.$refs.box;
      box.style.height = "auto";
      if (box.scrollHeight) box.style.height = `${Math.min(box.scrollHeight + 2, 220)}px`;
    },
    enter(event) {
      if (event.isComposing) return;
      event.preventDefault();
      this.send();
    },
    insert(words) {
      if (!this.text.startsWith(words)) this.text = words + this.text;
      this.typed();
      this.$refs.box.focus();
      this.$nextTick(() => this.fit());
    },
    send() {
      if (!this.open) {
        this.said = this.words.not_now;
      } else if (this.text.length > this.most) {
        this.said = this.words.too_long;
      } else if (!this.text.trim() && !this.asked) {
        this.asked = true;
        this.said = this.words.empty;
      } else {
        this.$emit("say", this.turn, this.text);
      }
    },
    taken() {
      this.text = "";
      this.said = "";
      this.asked = false;
      sessionStorage.removeItem(this.draft);
      this.$nextTick(() => this.fit());
      this.$refs.box.focus();
    },
    refused() {
      this.said = this.words.answered_elsewhere;
    },
    dictate() {
      if (this.listening) {
        this.recognition.stop();
        return;
      }
      this.recognition = new (window.SpeechRecognition || window.webkitSpeechRecognition)();
      this.recognition.lang = this.language;
      this.recognition.onresult = (event) => {
        const heard = Array.from(event.results, (result) => result[0].transcript).join(" ");
        this.text = `${this.text} ${heard}`.trim();
        this.typed();
      };
      this.recognition.onend = () => (this.listening = false);
      this.recognition.onerror = () => (this.listening = false);
      this.listening = true;
      this.recognition.start();
    },
  },
};
