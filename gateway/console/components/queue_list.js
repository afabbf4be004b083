// The rows of the queue. Moving and ticking happen here, without asking the server; what changes something is emitted.
export default {
  template: `
  <div class="queue">
    <div class="bulk" :class="{shown: picked.size}">
      <span class="strong">{{ texts.picked.replace("{n}", pickedTickets) }}</span>
      <button v-for="one in actions" :key="one.name" @click="act(one.name)"><kbd>{{ one.key }}</kbd>{{ one.text }}</button>
      <button class="push" @click="picked.clear()"><kbd>Esc</kbd>{{ texts.none }}</button>
    </div>
    <template v-for="(row, at) in rows" :key="row.id">
      <div class="q-row" :class="{at: at === cursor, picked: picked.has(row.id)}" :data-id="row.id" @click="open(row, '')">
        <label class="tick" @click.stop><input type="checkbox" :checked="picked.has(row.id)" @change="pick(row)" :aria-label="row.question"></label>
        <div class="count" :class="{many: row.n > 1}" :title="row.rank">{{ row.n }}</div>
        <div class="asked">
          <div class="question" :lang="row.lang">{{ row.question }}</div>
          <div class="meta"><span class="chip" :class="row.tone">{{ row.outcome }}</span><span>{{ row.reason }}</span>
            <span v-if="row.topic" class="topic">{{ row.topic }}</span></div>
        </div>
        <div class="who" :class="{mine: row.mine}">{{ row.who }}</div>
        <div class="age" :class="row.late" :title="row.at">{{ row.age }}</div>
        <button class="more" v-if="row.n > 1" @click.stop="unfold(row)" :aria-expanded="unfolded.has(row.id)">
          <i class="q-icon material-icons">{{ unfolded.has(row.id) ? "expand_less" : "expand_more" }}</i></button>
        <span v-else class="more"></span>
      </div>
      <div v-if="unfolded.has(row.id)" class="members">
        <a v-for="one in row.members" :key="one.id" @click="$emit('open', {id: one.id, intent: ''})">
          <span class="mono faint">{{ one.id }}</span><span :lang="row.lang" class="question">{{ one.question }}</span>
          <span class="who">{{ one.who }}</span><span class="age" :class="one.late">{{ one.age }}</span></a>
        <span v-if="row.n > row.members.length" class="quiet">{{ texts.others.replace("{n}", row.n - row.members.length) }}</span>
      </div>
    </template>
  </div>`,
  props: { rows: Array, texts: Object, actions: Array },
  data: () => ({ cursor: 0, picked: new Set(), unfolded: new Set() }),
  computed: {
    pickedTickets() {
      return this.rows.filter((row) => this.picked.has(row.id)).reduce((sum, row) => sum + row.n, 0);
    },
  },
  watch: {
    rows(now, before) {
      const here = new Set(this.rows.map((row) => row.id));
      for (const id of [...this.picked]) if (!here.has(id)) this.picked.delete(id);
      // The cursor stays on its ticket: a key must not meet another one that moved under it.
      const same = now.findIndex((row) => row.id === before[this.cursor]?.id);
      this.cursor = same >= 0 ? same : Math.max(0, Math.min(this.cursor, now.length - 1));
    },
  },
  mounted() {
    this.onKey = (event) => this.pressed(event);
    document.addEventListener("keydown", this.onKey);
  },
  unmounted() {
    document.removeEventListener("keydown", this.onKey);
  },
  methods: {
    pressed(event) {
      const field = ["INPUT", "TEXTAREA", "SELECT"].includes(document.activeElement?.tagName) && document.activeElement.type !== "checkbox";
      if (field || event.ctrlKey || event.metaKey || event.altKey || document.querySelector(".q-dialog, .q-menu")) return;
      const row = this.rows[this.cursor];
      if (event.key === "j" || event.key === "ArrowDown") this.move(1, event);
      else if (event.key === "k" || event.key === "ArrowUp") this.move(-1, event);
      else if (event.key === "Escape") this.picked.clear();
      else if (!row) return;
      else if (event.key === "Enter") this.open(row, "");
      else if (event.key === "x") this.pick(row);
      else if (event.key === "o") this.unfold(row);
      else if (["a", "e", "p"].includes(event.key)) this.open(row, event.key);
      else {
        const action = this.actions.find((one) => one.key === event.key);
        if (action) this.act(action.name);
      }
    },
    move(by, event) {
      event.preventDefault();
      this.cursor = Math.max(0, Math.min(this.rows.length - 1, this.cursor + by));
      this.$nextTick(() => this.$el.querySelector(".q-row.at")?.scrollIntoView({ block: "nearest" }));
    },
    pick(row) {
      this.picked.has(row.id) ? this.picked.delete(row.id) : this.picked.add(row.id);
    },
    unfold(row) {
      this.unfolded.has(row.id) ? this.unfolded.delete(row.id) : this.unfolded.add(row.id);
    },
    open(row, intent) {
      this.$emit("open", { id: row.id, intent });
    },
    act(name) {
      const rows = this.picked.size ? [...this.picked] : this.rows[this.cursor] ? [this.rows[this.cursor].id] : [];
      if (rows.length) this.$emit("act", { name, rows });
      this.picked.clear();
    },
  },
};
