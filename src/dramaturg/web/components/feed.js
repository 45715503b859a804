// The list of turns. It stays at its end while the reader is there, and stands still while the reader looks back.
export default {
  template: `<div class="feed" ref="box" tabindex="0" role="region" :aria-label="label" @scroll.passive="look"
    ><div class="feed-turns" ref="turns"><slot></slot></div></div>`,
  props: { label: String },
  data() {
    return { atEnd: true, top: 0 };
  },
  mounted() {
    this.watcher = new ResizeObserver(() => this.follow());
    this.watcher.observe(this.$refs.turns);
    this.watcher.observe(this.$refs.box);
    this.follow();
  },
  beforeUnmount() {
    this.watcher.disconnect();
  },
  methods: {
    look() {
      const box = this.$refs.box;
      if (box.scrollHeight - box.scrollTop - box.clientHeight < 80) this.atEnd = true;
      else if (box.scrollTop < this.top - 2) this.atEnd = false; // only a reader scrolls upwards
      this.top = box.scrollTop;
    },
    follow() {
      if (this.atEnd) this.$refs.box.scrollTop = this.$refs.box.scrollHeight;
    },
  },
};
