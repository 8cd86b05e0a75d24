
// The notebook's widget: a Viewer over the notebook's own messages to Python (anywidget).

class NotebookLink {
  constructor(model) {
    this.model = model;
    this.name = `${Math.random()}`.slice(2); // others may look at the same universe
    this.number = 0;
    this.waiting = new Map();
    this.heard = (message, buffers) => this.hear(message, buffers);
    model.on("msg:custom", this.heard);
  }

  listen(callback) {
    this.callback = callback;
    this.model.send({ ask: "facts", from: this.name });
  }

  hear(message, buffers) {
    if (message.to && message.to !== this.name) return;
    const bytes = ({ buffer, byteOffset, byteLength }) =>
      new Uint8Array(buffer, byteOffset, byteLength);
    if (!message.id) return this.callback({ ...message, bodies: (buffers ?? []).map(bytes) });
    const waiting = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (!waiting) return;
    if (message.error) waiting.reject(new Error(message.error));
    else waiting.resolve([message.block, buffers.map(bytes)]);
  }

  send(order) {
    this.model.send({ order });
  }

  async block(version, { scale, x, y, width, height }, tag) {
    const id = `${this.name}-${++this.number}`;
    const answer = new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
    const place = [scale, String(x), String(y), width, height];
    this.model.send({ id, ask: "block", version, place, tag });
    const [found, bodies] = await answer;
    if (!found.same) found.bytes = await unpacked(bodies[0]);
    return found;
  }

  look(blocks) {
    this.model.send({ look: blocks, from: this.name });
  }

  seen(frame) {
    this.model.send({ seen: frame, from: this.name });
  }

  close() {
    this.model.send({ leave: true, from: this.name });
    this.model.off("msg:custom", this.heard);
  }
}

export default {
  render({ model, el }) {
    const box = document.createElement("div"); // el's own style is the notebook's
    box.style.height = `${model.get("height")}px`;
    box.dataset.lmSuppressShortcuts = "true"; // JupyterLab's own keys: d, d would delete the cell
    el.append(box);
    const link = new NotebookLink(model);
    const viewer = new Viewer(box, link, { scrolls: true });
    box.lifesimViewer = viewer;
    return () => {
      viewer.close();
      link.close();
      box.remove();
    };
  },
};
