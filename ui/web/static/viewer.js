// A universe on a canvas: pan, zoom, play, step and draw. The page of `lifesim serve` and the
// notebook's widget show the same Viewer, each over a link of its own:
//
//   link.block(version, {scale, x, y, width, height}, tag)
//       resolves to {version, channels, whole, tag, bytes}, or with same: true in place of bytes
//       where what has that tag is still right. x, y are BigInts, in tiles of 256 pixels.
//   link.send(order)       what is asked of the universe, as ui/web/orders.py has it
//   link.look(blocks)      which blocks are to come by themselves whenever they change
//   link.seen(frame)       that a frame of these has been drawn
//   link.listen(callback)  called with {palettes, facts, error, lost}, each only if there is one, or
//       with {part, bodies}, a part of a frame, as ui/web/feed.py makes it, and its blocks' bytes
//
// A view is three integers, as in ui/picture/viewport.py: the scale (the binary logarithm of cells a
// pixel), and the pixel of the universe in the upper left corner. They are exact at any distance.

const SIDE = 256; // pixels of a tile
const TILES = 2; // tiles of a block, a side
const BLOCK = SIDE * TILES;
const NEAREST = -5;
const FARTHEST = 256;
const KEPT = 160; // blocks
const LOOKED = 96; // blocks that are looked at, or none come by themselves
const AT_ONCE = 6; // requests; browsers make no more of them at once
const COARSER = 9; // levels that are looked through for what is missing
const AGAIN = 250; // milliseconds until what was not sharp yet is asked for again
const SPEEDS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16384, 65536];

const shifted = (n, k) => (k >= 0 ? n << BigInt(k) : n >> BigInt(-k));
const least = (a, b) => (a < b ? a : b);
const most = (a, b) => (a > b ? a : b);

function scaleText(scale) {
  if (scale <= 0) return `${2 ** -scale}:1`;
  return scale < 31 ? `1:${2 ** scale}` : `1:2^${scale}`;
}

function grouped(digits) {
  if (digits.length > 24) return `${digits[0]}.${digits.slice(1, 4)}e${digits.length - 1}`;
  return digits.replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

function made(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

async function unpacked(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export class Viewer {
  // scrolls: whether the wheel is for what is around the picture, until somebody clicks into it.
  constructor(root, link, { scrolls } = {}) {
    this.root = root;
    this.scrolls = scrolls;
    this.link = link;
    this.facts = null;
    this.palettes = null;
    this.view = { scale: 0, left: 0n, top: 0n };
    this.blocks = new Map(); // by address: {shown, next, asked, failed}
    this.underWay = 0;
    this.target = 0; // the version that is being fetched, or has come by itself
    this.looked = ""; // the blocks that come by themselves
    this.parts = []; // of a frame that has not come as a whole yet
    this.hearing = Promise.resolve();
    this.unseen = 0; // the frame that has come, but has not been drawn
    this.fitted = false;
    this.drawing = false;
    this.stroke = 0;
    this.frames = 0; // drawn so far
    this.coverage = 0; // share of the last frame that was as sharp as can be
    this.build();
    this.listenToPointer();
    this.listenToKeys();
    this.resizing = new ResizeObserver(() => this.resize());
    this.resizing.observe(this.canvas);
    this.scheme = globalThis.matchMedia("(prefers-color-scheme: light)");
    this.schemeChanged = () => this.changed();
    this.scheme.addEventListener("change", this.schemeChanged);
    link.listen((message) => this.hear(message));
  }

  // --- what is around the picture ------------------------------------------------

  build() {
    this.root.classList.add("lifesim");
    this.canvas = made("canvas", { tabindex: "0", role: "img" });
    this.canvas.setAttribute("aria-label", "the universe: arrows move, plus and minus zoom");
    this.buttons = {};
    const bar = made("div", { class: "lifesim-bar", role: "toolbar", "aria-label": "universe" });
    const button = (name, text, hint, act) => {
      const one = made("button", { type: "button", title: hint }, text);
      one.addEventListener("click", act);
      this.buttons[name] = one;
      bar.append(one);
    };
    button("play", "Play", "run, or stop (space)", () => this.play());
    button("step", "Step", "make one generation (.)", () => this.order({ do: "step" }));
    this.speed = made("select", { title: "generations between two pictures" });
    for (const speed of SPEEDS) this.speed.append(made("option", { value: speed }, `× ${speed}`));
    this.speed.addEventListener("change", () =>
      this.order({ do: "speed", count: Number(this.speed.value) }),
    );
    bar.append(this.speed);
    button("reset", "Reset", "go back to the first generation", () => this.order({ do: "reset" }));
    button("draw", "Draw", "draw with the mouse (d)", () => this.setDrawing(!this.drawing));
    this.state = made("input", { type: "number", min: "1", value: "1", title: "state to draw" });
    bar.append(this.state);
    button("undo", "Undo", "take the last drawing back (Ctrl+Z)", () => this.order({ do: "undo" }));
    bar.append(made("span", { class: "lifesim-gap" }));
    button("out", "−", "zoom out (-)", () => this.zoom(-1));
    this.scale = made("output", { title: "pixels : cells" });
    bar.append(this.scale);
    button("in", "+", "zoom in (+)", () => this.zoom(1));
    button("fit", "Fit", "show all that lives (f)", () => this.fit());
    this.status = made("div", { class: "lifesim-status" });
    this.generation = made("span");
    this.about = made("span");
    this.cell = made("span", { class: "lifesim-cell" });
    this.status.append(this.generation, this.about, this.cell);
    this.note = made("div", { class: "lifesim-note", role: "alert", hidden: "" });
    this.root.append(bar, this.canvas, this.note, this.status);
  }

  say(text) {
    clearTimeout(this.saying);
    this.note.textContent = text;
    this.note.hidden = !text;
  }

  sayBriefly(text) {
    this.say(text);
    this.saying = setTimeout(() => this.say(""), 5000);
  }

  tell() {
    const facts = this.facts;
    this.scale.textContent = scaleText(this.view.scale);
    if (!facts) return;
    const { buttons } = this;
    for (const name of ["play", "step", "reset"]) buttons[name].hidden = !facts.plays;
    this.speed.hidden = !facts.plays;
    for (const name of ["draw", "undo"]) buttons[name].hidden = !facts.draws;
    this.state.hidden = !facts.draws || facts.states <= 2;
    this.state.max = facts.states - 1;
    buttons.play.textContent = facts.running ? "Pause" : "Play";
    buttons.play.setAttribute("aria-pressed", facts.running);
    buttons.undo.disabled = !facts.undo;
    if (document.activeElement !== this.speed) this.speed.value = facts.speed;
    this.generation.textContent = `generation ${grouped(facts.generation)}`;
    const [, , width, height] = facts.box;
    const size = facts.bounded
      ? `${grouped(width)} × ${grouped(height)}`
      : `no bounds, ${grouped(width)} × ${grouped(height)} live`;
    const parts = [facts.rule, size];
    if (facts.population !== null) parts.unshift(`population ${grouped(facts.population)}`);
    if (facts.progress !== null) parts.push(`${Math.floor(100 * facts.progress)} % of a run`);
    if (facts.name) parts.push(facts.name);
    this.about.textContent = parts.join(" · ");
  }

  // --- what the link says --------------------------------------------------------

  // Takes messages in their order, though blocks have to be unpacked first.
  hear(message) {
    this.hearing = this.hearing
      .then(() => !this.closed && this.take(message))
      .catch((error) => this.sayBriefly(error.message));
  }

  async take(message) {
    if (message.palettes) {
      this.palettes = message.palettes;
    }
    if (message.lost !== undefined) {
      this.say(message.lost ? "connection lost: trying again" : "");
      this.looked = "";
      this.changed();
    }
    if (message.error) this.sayBriefly(message.error);
    if (message.part) await this.takePart(message.part, message.bodies);
    if (message.facts) this.takeFacts(message.facts);
  }

  takeFacts(facts) {
    const before = this.facts;
    this.facts = facts;
    this.box = facts.box.map(BigInt);
    if (facts.problem && facts.problem !== before?.problem) this.say(facts.problem);
    if (before?.problem && !facts.problem) this.say("");
    if (!this.fitted) this.fit();
    this.tell();
    this.changed();
  }

  // The last part of a frame has the facts: then all of it is shown at once.
  async takePart({ frame, facts, blocks }, bodies) {
    const all = await Promise.all(bodies.map(unpacked));
    for (const block of blocks) this.parts.push({ ...block, bytes: block.size ? all.shift() : null });
    if (!facts) return;
    for (const block of this.parts) this.replace(block);
    this.parts = [];
    this.target = Math.max(this.target, facts.version);
    this.unseen = frame;
    this.restrict();
    this.takeFacts(facts);
  }

  // Puts a block that has come by itself in place of what is shown. Without bytes it has not
  // changed; where that is not what is there, it is asked for as any other that is missing.
  replace({ address: [scale, x, y], version, channels, tag, whole, bytes }) {
    const address = this.address(scale, BigInt(x) / BigInt(TILES), BigInt(y) / BigInt(TILES));
    const entry = this.blocks.get(address) ?? {};
    const known = entry.next ?? entry.shown;
    if (known?.version > version || (!bytes && known?.tag !== tag)) return;
    const again = performance.now() + AGAIN;
    if (!whole) setTimeout(() => this.changed(), AGAIN + 1);
    if (bytes) {
      const canvas = this.painted(bytes, channels, entry.shown?.canvas);
      entry.shown = { version, canvas, tag, whole, again, bytes, channels };
    } else {
      entry.shown = { ...known, version, whole, again };
    }
    entry.next = undefined;
    this.blocks.set(address, entry);
  }

  order(order) {
    this.link.send(order);
  }

  play() {
    if (this.facts?.plays) this.order({ do: this.facts.running ? "pause" : "play" });
  }

  // --- where one looks -----------------------------------------------------------

  resize() {
    const ratio = globalThis.devicePixelRatio || 1;
    const width = Math.max(1, Math.round(this.canvas.clientWidth * ratio));
    const height = Math.max(1, Math.round(this.canvas.clientHeight * ratio));
    if (width === this.canvas.width && height === this.canvas.height) return;
    const { view } = this;
    const [across, down] = [this.canvas.width >> 1, this.canvas.height >> 1];
    this.canvas.width = width;
    this.canvas.height = height;
    this.look(view.scale, view.left + BigInt(across - (width >> 1)), view.top + BigInt(down - (height >> 1)));
    if (!this.moved) this.fitted = false;
    if (this.facts && !this.fitted) this.fit();
  }

  look(scale, left, top) {
    this.view = { scale, left, top };
    this.scale.textContent = scaleText(scale);
    this.changed();
  }

  pan(right, down) {
    this.moved = true;
    const { view } = this;
    this.look(view.scale, view.left + BigInt(Math.round(right)), view.top + BigInt(Math.round(down)));
  }

  zoom(steps, x = this.canvas.width >> 1, y = this.canvas.height >> 1) {
    this.moved = true;
    const { view } = this;
    const scale = Math.min(Math.max(view.scale - steps, NEAREST), FARTHEST);
    const [across, down] = [BigInt(Math.round(x)), BigInt(Math.round(y))];
    const further = BigInt(scale - view.scale);
    // The middle of a pixel stays where it is.
    const rescaled = (pixel) =>
      further >= 0n ? pixel >> further : ((2n * pixel + 1n) << -further) >> 1n;
    this.look(scale, rescaled(view.left + across) - across, rescaled(view.top + down) - down);
  }

  fit() {
    const { width, height } = this.canvas;
    if (!this.box || width < 2 || height < 2) return;
    const [x, y, across, down] = this.box;
    let scale = -4;
    const pixels = (cells) => -shifted(-cells, -scale);
    while (scale < FARTHEST && (pixels(across) > BigInt(width) || pixels(down) > BigInt(height))) scale++;
    this.fitted = true;
    this.moved = false;
    const middle = (start, length) => shifted(2n * start + length, -(scale + 1));
    this.look(scale, middle(x, across) - BigInt(width >> 1), middle(y, down) - BigInt(height >> 1));
  }

  // The cell under a pixel of the canvas.
  cellAt(x, y) {
    const { scale, left, top } = this.view;
    return [shifted(left + BigInt(Math.floor(x)), scale), shifted(top + BigInt(Math.floor(y)), scale)];
  }

  // --- blocks --------------------------------------------------------------------

  address(scale, x, y) {
    return `${scale}/${x}/${y}`;
  }

  // The first and last column and row of the blocks of a level that are seen, with so many around
  // them, as far as the universe goes.
  range(level, around = 0) {
    const { scale, left, top } = this.view;
    const rest = level - scale; // a pixel of the level is 2^rest pixels of the canvas
    const [x, y, width, height] = this.box;
    const along = (first, length, start, cells) => {
      const from = shifted(first, -rest);
      const to = shifted(first + BigInt(length) - 1n, -rest);
      const block = (pixel) => pixel >> 9n;
      return [
        most(block(from) - BigInt(around), block(shifted(start, -level))),
        least(block(to) + BigInt(around), block(shifted(start + cells - 1n, -level))),
      ];
    };
    return [...along(left, this.canvas.width, x, width), ...along(top, this.canvas.height, y, height)];
  }

  // The blocks of that range, those in the middle first.
  seen(level, around = 0) {
    const [x0, x1, y0, y1] = this.range(level, around);
    const found = [];
    for (let by = y0; by <= y1; by++) for (let bx = x0; bx <= x1; bx++) found.push([level, bx, by]);
    const [middleX, middleY] = [Number(x0 + x1) / 2, Number(y0 + y1) / 2];
    const far = ([, bx, by]) => (Number(bx) - middleX) ** 2 + (Number(by) - middleY) ** 2;
    return found.sort((a, b) => far(a) - far(b));
  }

  // Says what is looked at, where it is something else than before.
  watch() {
    const scale = this.level();
    const [x0, x1, y0, y1] = this.range(scale);
    const [columns, rows] = [Number(most(x1 - x0 + 1n, 0n)), Number(most(y1 - y0 + 1n, 0n))];
    const [x, y] = [x0, y0].map((n) => String(n * BigInt(TILES)));
    const fits = columns * rows <= LOOKED;
    const blocks = fits ? { scale, x, y, columns, rows } : { scale: 0, x: 0, y: 0 };
    const text = JSON.stringify(blocks);
    if (text === this.looked) return;
    this.looked = text;
    this.link.look({ columns: 0, rows: 0, ...blocks });
  }

  level() {
    return Math.max(this.view.scale, 0);
  }

  // Whether a block is to be asked for.
  isWanted(block, now) {
    const entry = this.blocks.get(this.address(...block));
    if (!entry) return true;
    if (entry.asked || entry.failed > now) return false;
    const newest = entry.next ?? entry.shown;
    return !newest || newest.version < this.target || (!newest.whole && newest.again <= now);
  }

  ask() {
    if (!this.facts || !this.palettes || this.canvas.width < 2) return;
    this.watch();
    const now = performance.now();
    const level = this.level();
    const visible = this.seen(level);
    const wanted = visible.filter((block) => this.isWanted(block, now));
    const waiting = visible.some((block) => this.blocks.get(this.address(...block))?.asked);
    if (!wanted.length && !waiting) {
      this.commit(visible);
      if (this.target < this.facts.version) {
        this.target = this.facts.version;
        return this.ask();
      }
    }
    let list = wanted;
    if (wanted.length && !this.facts.running) {
      // Coarse before fine: what is seen nothing of at all.
      const blank = wanted.some((block) => !this.coarser(...block));
      const coarse = level + 3;
      if (blank && coarse <= FARTHEST) {
        list = [...this.seen(coarse).filter((block) => this.isWanted(block, now)), ...wanted];
      }
    } else if (!wanted.length && !this.facts.running) {
      list = this.seen(level, 1).filter((block) => this.isWanted(block, now));
    }
    for (const block of list) {
      if (this.underWay >= AT_ONCE) return;
      this.fetch(block);
    }
  }

  async fetch(block) {
    const [scale, bx, by] = block;
    const address = this.address(...block);
    const entry = this.blocks.get(address) ?? {};
    this.blocks.set(address, entry);
    entry.asked = true;
    this.underWay++;
    const key = { scale, x: bx * BigInt(TILES), y: by * BigInt(TILES), width: TILES, height: TILES };
    const version = Math.max(this.target, this.facts.running ? 0 : this.facts.version);
    const known = entry.next ?? entry.shown;
    try {
      const answer = await this.link.block(version, key, known?.tag);
      const newest = entry.next ?? entry.shown;
      if (newest?.version > answer.version) return; // another has come meanwhile
      if (answer.same && newest !== known) return; // and it has been painted on
      const { tag, whole } = answer;
      const again = performance.now() + AGAIN;
      const canvas = answer.same ? known.canvas : this.painted(answer.bytes, answer.channels);
      const bytes = answer.same ? known.bytes : answer.bytes;
      const channels = answer.same ? known.channels : answer.channels;
      const one = { version: answer.version, canvas, tag, whole, again, bytes, channels };
      if (this.facts.running && entry.shown) entry.next = one;
      else [entry.shown, entry.next] = [one, undefined];
      if (!whole) setTimeout(() => this.changed(), AGAIN + 1);
      this.restrict();
    } catch (error) {
      entry.failed = performance.now() + 1000;
      setTimeout(() => this.changed(), 1001);
      // That nobody answers is said by the link.
      if (error?.message && !(error instanceof TypeError)) this.sayBriefly(error.message);
    } finally {
      entry.asked = false;
      this.underWay--;
      this.changed();
    }
  }

  // Shows what has come of one version at once, so that a run has no seams.
  commit(visible) {
    for (const block of visible) {
      const entry = this.blocks.get(this.address(...block));
      if (entry?.next) [entry.shown, entry.next] = [entry.next, undefined];
    }
  }

  // Forgets blocks that have not been seen for long: a Map keeps the order of its entries.
  restrict() {
    for (const block of this.seen(this.level(), 1)) this.touch(this.address(...block));
    for (const [address, entry] of this.blocks) {
      if (this.blocks.size <= KEPT) return;
      if (!entry.asked) this.blocks.delete(address);
    }
  }

  touch(address) {
    const entry = this.blocks.get(address);
    if (!entry) return;
    this.blocks.delete(address);
    this.blocks.set(address, entry);
  }

  // --- pictures ------------------------------------------------------------------

  // The style sheet says what is dark: in a notebook, what the notebook says.
  style(name) {
    return getComputedStyle(this.root).getPropertyValue(`--lifesim-${name}`).trim();
  }

  choosePalette() {
    const palette = this.style("scheme") || "dark";
    if (palette === this.palette) return;
    this.palette = palette;
    if (this.palettes) this.repaint();
  }

  // The red, green and blue of dead cells.
  dead() {
    return this.facts?.dead ?? this.palettes[this.palette].slice(0, 3);
  }

  // canvas: one that is no longer needed.
  painted(bytes, channels, canvas = new OffscreenCanvas(BLOCK, BLOCK)) {
    const context = canvas.getContext("2d");
    const table = this.palettes[this.palette];
    const colours = new Uint32Array(256);
    for (let level = 0; level < 256; level++) {
      const [red, green, blue] = table.slice(3 * level, 3 * level + 3);
      colours[level] = (255 << 24) | (blue << 16) | (green << 8) | red;
    }
    const image = new ImageData(SIDE, SIDE);
    const pixels = new Uint32Array(image.data.buffer);
    const size = SIDE * SIDE * channels;
    for (let tile = 0; tile < TILES * TILES; tile++) {
      const from = tile * size;
      if (channels === 1) {
        for (let i = 0; i < pixels.length; i++) pixels[i] = colours[bytes[from + i]];
      } else {
        for (let i = 0, at = from; i < pixels.length; i++, at += 3) {
          pixels[i] = (255 << 24) | (bytes[at + 2] << 16) | (bytes[at + 1] << 8) | bytes[at];
        }
      }
      context.putImageData(image, SIDE * (tile % TILES), SIDE * Math.floor(tile / TILES));
    }
    return canvas;
  }

  repaint() {
    for (const entry of this.blocks.values()) {
      for (const one of [entry.shown, entry.next]) {
        if (one) one.canvas = this.painted(one.bytes, one.channels);
      }
    }
  }

  changed() {
    if (this.due || this.closed) return;
    this.due = requestAnimationFrame(() => {
      this.due = 0;
      this.choosePalette();
      this.ask();
      this.draw();
      if (this.unseen) this.link.seen(this.unseen);
      this.unseen = 0;
    });
  }

  // The nearest coarser block that is there for a missing one, and which part of it.
  coarser(level, bx, by) {
    for (let up = 1; up <= COARSER; up++) {
      const [x, y] = [bx >> BigInt(up), by >> BigInt(up)];
      const entry = this.blocks.get(this.address(level + up, x, y));
      if (entry?.shown) {
        const side = BLOCK / 2 ** up;
        const part = (n) => Number(n & ((1n << BigInt(up)) - 1n)) * side;
        return { canvas: entry.shown.canvas, x: part(bx), y: part(by), side };
      }
    }
    return null;
  }

  draw() {
    const context = this.canvas.getContext("2d", { alpha: false });
    const { width, height } = this.canvas;
    context.fillStyle = this.style("outside") || "gray";
    context.fillRect(0, 0, width, height);
    if (!this.box || !this.palettes) return;
    const { scale, left, top } = this.view;
    // Where something lies on the canvas; far out of it, it is no matter where.
    const place = (pixel, start) => Number(most(least(pixel - start, 1n << 20n), -(1n << 20n)));
    context.fillStyle = `rgb(${this.dead()})`;
    const edge = (cell, start) => place(-shifted(-cell, -scale), start);
    if (this.facts.bounded) {
      const [x, y, across, down] = this.box;
      const [x0, y0] = [place(shifted(x, -scale), left), place(shifted(y, -scale), top)];
      context.fillRect(x0, y0, edge(x + across, left) - x0, edge(y + down, top) - y0);
      context.save();
      context.beginPath();
      context.rect(x0, y0, edge(x + across, left) - x0, edge(y + down, top) - y0);
      context.clip();
    } else {
      context.fillRect(0, 0, width, height);
      context.save();
    }
    const level = this.level();
    const side = BLOCK * 2 ** (level - scale);
    const blocks = this.seen(level);
    let sharp = 0;
    context.imageSmoothingEnabled = false;
    for (const [, bx, by] of blocks) {
      const at = (n, start) => place(shifted(n * BigInt(BLOCK), level - scale), start);
      const [x, y] = [at(bx, left), at(by, top)];
      const entry = this.blocks.get(this.address(level, bx, by));
      if (entry?.shown) {
        context.drawImage(entry.shown.canvas, x, y, side, side);
        sharp += entry.shown.whole ? 1 : 0;
        continue;
      }
      const blurred = this.coarser(level, bx, by);
      if (blurred) {
        const { canvas, side: part } = blurred;
        context.drawImage(canvas, blurred.x, blurred.y, part, part, x, y, side, side);
      }
      this.drawFiner(context, level, bx, by, x, y, side);
    }
    this.coverage = blocks.length ? sharp / blocks.length : 1;
    this.drawGrid(context);
    context.restore();
    this.frames++;
  }

  // Draws what is there of the next nearer level, as one has just zoomed out.
  drawFiner(context, level, bx, by, x, y, side) {
    if (level === 0) return;
    context.imageSmoothingEnabled = true;
    for (let n = 0; n < 4; n++) {
      const [right, down] = [n & 1, n >> 1];
      const address = this.address(level - 1, 2n * bx + BigInt(right), 2n * by + BigInt(down));
      const entry = this.blocks.get(address);
      const half = side / 2;
      if (entry?.shown) {
        context.drawImage(entry.shown.canvas, x + right * half, y + down * half, half, half);
      }
    }
    context.imageSmoothingEnabled = false;
  }

  drawGrid(context) {
    const { scale, left, top } = this.view;
    if (scale > -3) return;
    const side = 2 ** -scale;
    const { width, height } = this.canvas;
    context.fillStyle = this.style("lines");
    const first = (start) => (side - Number(BigInt.asUintN(-scale, start))) % side;
    for (let x = first(left); x < width; x += side) context.fillRect(x, 0, 1, height);
    for (let y = first(top); y < height; y += side) context.fillRect(0, y, width, 1);
  }

  // --- mouse, fingers and keys ---------------------------------------------------

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    const ratio = this.canvas.width / Math.max(1, box.width);
    return [(event.clientX - box.left) * ratio, (event.clientY - box.top) * ratio];
  }

  listenToPointer() {
    const { canvas } = this;
    const fingers = new Map();
    let apart = 0;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button > 1) return;
      canvas.setPointerCapture(event.pointerId);
      canvas.focus({ preventScroll: true });
      fingers.set(event.pointerId, this.at(event));
      if (this.drawing && event.button === 0 && fingers.size === 1) this.beginLine(...this.at(event));
      event.preventDefault();
    });
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = this.at(event);
      this.cell.textContent = this.facts ? this.cellAt(x, y).map(String).join(", ") : "";
      const before = fingers.get(event.pointerId);
      if (!before) return;
      if (this.line) return this.goOn(x, y);
      if (fingers.size === 1) {
        const [right, down] = [Math.round(before[0] - x), Math.round(before[1] - y)];
        if (!right && !down) return;
        fingers.set(event.pointerId, [before[0] - right, before[1] - down]);
        return this.pan(right, down);
      }
      fingers.set(event.pointerId, [x, y]);
      const [[ax, ay], [bx, by]] = [...fingers.values()];
      const now = Math.hypot(ax - bx, ay - by);
      if (!apart) apart = now;
      if (now > 1.5 * apart || now < apart / 1.5) {
        this.zoom(now > apart ? 1 : -1, (ax + bx) / 2, (ay + by) / 2);
        apart = now;
      }
    });
    const ended = (event) => {
      fingers.delete(event.pointerId);
      apart = 0;
      this.endLine();
    };
    canvas.addEventListener("pointerup", ended);
    canvas.addEventListener("pointercancel", ended);
    let turned = 0;
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (this.scrolls && !this.root.contains(document.activeElement)) return;
        event.preventDefault();
        turned += event.deltaY * (event.deltaMode ? 40 : 1) * (event.ctrlKey ? 8 : 1);
        if (Math.abs(turned) < 40) return;
        this.zoom(turned < 0 ? 1 : -1, ...this.at(event));
        turned = 0;
      },
      { passive: false },
    );
  }

  listenToKeys() {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    this.canvas.addEventListener("keydown", (event) => {
      if (event.altKey || event.metaKey) return;
      const acts = {
        "+": () => this.zoom(1),
        "=": () => this.zoom(1),
        "-": () => this.zoom(-1),
        f: () => this.fit(),
        d: () => this.setDrawing(!this.drawing),
        " ": () => this.play(),
        ".": () => this.facts?.plays && this.order({ do: "step" }),
      };
      if (event.ctrlKey) {
        if (event.key !== "z" || !this.facts?.draws) return;
        this.order({ do: "undo" });
      } else if (moves[event.key]) {
        const [right, down] = moves[event.key];
        this.pan((right * this.canvas.width) / 8, (down * this.canvas.height) / 8);
      } else if (acts[event.key]) {
        acts[event.key]();
      } else {
        return;
      }
      event.preventDefault();
      event.stopPropagation();
    });
  }

  setDrawing(drawing) {
    this.drawing = drawing && Boolean(this.facts?.draws);
    this.buttons.draw.setAttribute("aria-pressed", this.drawing);
    this.canvas.classList.toggle("lifesim-drawing", this.drawing);
  }

  beginLine(x, y) {
    if (this.view.scale > 0) return this.sayBriefly("zoom in to draw: to 1:1 or nearer");
    const cell = this.cellAt(x, y);
    const alive = this.lives(...cell);
    this.stroke = Date.now() % 2 ** 40;
    this.line = { points: [cell], state: alive ? 0 : Number(this.state.value) || 1 };
    this.sendLine();
  }

  goOn(x, y) {
    const cell = this.cellAt(x, y);
    const last = this.line.points.at(-1);
    if (last[0] === cell[0] && last[1] === cell[1]) return;
    this.line.points.push(cell);
    this.line.due ??= setTimeout(() => this.sendLine(), 30);
  }

  sendLine() {
    const { line } = this;
    if (!line) return;
    clearTimeout(line.due);
    line.due = undefined;
    if (line.points.length > (line.sent ? 1 : 0)) {
      const points = line.points.slice(-4096).map((cell) => cell.map(String));
      this.order({ do: "draw", points, state: line.state, stroke: this.stroke });
      line.sent = true;
    }
    line.points = line.points.slice(-1);
  }

  endLine() {
    this.sendLine();
    this.line = null;
  }

  // Whether a cell that is seen lives.
  lives(x, y) {
    const entry = this.blocks.get(this.address(0, x >> 9n, y >> 9n));
    if (!entry?.shown) return false;
    const { bytes, channels } = entry.shown;
    const [px, py] = [Number(BigInt.asUintN(9, x)), Number(BigInt.asUintN(9, y))];
    const tile = TILES * (py >> 8) + (px >> 8);
    const at = (tile * SIDE * SIDE + (py & 255) * SIDE + (px & 255)) * channels;
    if (channels === 1) return bytes[at] > 0;
    return this.dead().some((part, n) => bytes[at + n] !== part);
  }

  close() {
    this.closed = true;
    cancelAnimationFrame(this.due);
    this.resizing.disconnect();
    this.scheme.removeEventListener("change", this.schemeChanged);
  }
}
