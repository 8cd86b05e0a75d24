
// The notebook's widget: a Viewer over the notebook's own line to Python (anywidget).

async function unpacked(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

class NotebookLine {
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
    this.model.send({ ask: "facts" });
  }

  hear(message, buffers) {
    if (!message.id) return this.callback(message);
    const waiting = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (!waiting) return;
    if (message.error) waiting.reject(new Error(message.error));
    else waiting.resolve([message.block, buffers]);
  }

  send(order) {
    this.model.send({ order });
  }

  async block(version, { scale, x, y, width, height }, tag) {
    const id = `${this.name}-${++this.number}`;
    const answer = new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
    const place = [scale, String(x), String(y), width, height];
    this.model.send({ id, ask: "block", version, place, tag });
    const [found, buffers] = await answer;
    if (!found.same) {
      const { buffer, byteOffset, byteLength } = buffers[0];
      found.bytes = await unpacked(new Uint8Array(buffer, byteOffset, byteLength));
    }
    return found;
  }

  close() {
    this.model.off("msg:custom", this.heard);
  }
}

export default {
  render({ model, el }) {
    const box = document.createElement("div"); // el's own style is the notebook's
    box.style.height = `${model.get("height")}px`;
    box.dataset.lmSuppressShortcuts = "true"; // JupyterLab's own keys: d, d would delete the cell
    el.append(box);
    const line = new NotebookLine(model);
    const viewer = new Viewer(box, line, { scrolls: true });
    box.lifesimViewer = viewer;
    return () => {
      viewer.close();
      line.close();
      box.remove();
    };
  },
};
