// The page of `lifesim serve`: a Viewer over HTTP, for tiles, and a websocket, for all else.

import { Viewer } from "./viewer.js";

const AGAIN = 1000; // milliseconds to the next try to reach the server

// A message and the bytes after it, as packed() of ui/web/feed.py has put them together.
function taken(data) {
  const length = new DataView(data).getUint32(0);
  const part = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
  let at = 4 + length;
  const bodies = part.blocks
    .filter((block) => block.size)
    .map(({ size }) => new Uint8Array(data, (at += size) - size, size));
  return { part, bodies };
}

class Link {
  constructor() {
    this.callback = () => {};
    this.orders = null;
  }

  listen(callback) {
    this.callback = callback;
    this.connect();
  }

  connect() {
    const socket = new WebSocket(new URL("live", location.href.replace(/^http/, "ws")));
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => {
      this.orders = socket;
      this.callback({ lost: false });
    });
    socket.addEventListener("message", ({ data }) =>
      this.callback(typeof data === "string" ? JSON.parse(data) : taken(data)),
    );
    socket.addEventListener("close", () => {
      this.orders = null;
      this.callback({ lost: true });
      setTimeout(() => this.connect(), AGAIN);
    });
  }

  send(order) {
    if (this.orders) this.orders.send(JSON.stringify(order));
    else this.callback({ lost: true });
  }

  look(blocks) {
    this.orders?.send(JSON.stringify({ look: blocks }));
  }

  seen(frame) {
    this.orders?.send(JSON.stringify({ seen: frame }));
  }

  async block(version, { scale, x, y, width, height }, tag) {
    const headers = tag ? { "If-None-Match": `"${tag}"` } : {};
    const answer = await fetch(`blocks/${version}/${scale}/${x}/${y}/${width}/${height}`, { headers });
    if (!answer.ok && answer.status !== 304) {
      throw new Error(await answer.text());
    }
    const header = (name) => answer.headers.get(name);
    const found = {
      version: Number(header("X-Version")),
      channels: Number(header("X-Channels")),
      whole: header("X-Whole") === "1",
      tag: header("ETag").replaceAll('"', ""),
    };
    // A browser that has it kept answers 200 whatever the server said.
    found.same = answer.status === 304;
    if (!found.same) found.bytes = new Uint8Array(await answer.arrayBuffer());
    return found;
  }
}

globalThis.viewer = new Viewer(document.querySelector("main"), new Link());
