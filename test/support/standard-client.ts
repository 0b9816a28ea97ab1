/**
 * A client that behaves on the wire like the client library of Standard Agents: the same requests, frames and state. It
 * keeps rows by id, replaces a row by the whole new row, appends chunks to known rows and drops those of unknown ones,
 * removes its optimistic message once that is accepted, and never requests what it has missed.
 */
import { eventually } from './eventually.ts';

// biome-ignore lint/suspicious/noExplicitAny: any JSON of a response or frame
type Json = any;

export interface StandardClientOptions {
  /** The server's address, including `/api`. */
  readonly endpoint: string;
  readonly token?: string;
  /** Milliseconds before the first reconnect; the delay doubles with each failure, up to thirty times this value. */
  readonly retryMs?: number;
}

export interface StreamOptions {
  readonly includeSilent?: boolean;
  readonly depth?: number;
}

export class StandardClient {
  readonly #endpoint: string;
  readonly #token: string | undefined;
  readonly #retryMs: number;

  constructor({ endpoint, token, retryMs = 20 }: StandardClientOptions) {
    this.#endpoint = endpoint;
    this.#token = token;
    this.#retryMs = retryMs;
  }

  /** Sends a request; throws for every status except 2xx, without reading the body. */
  async call(method: string, path: string, body?: unknown): Promise<{ status: number; body: Json }> {
    const response = await fetch(`${this.#endpoint}${path}`, {
      method,
      headers: {
        ...(this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`);
    return { status: response.status, body: await response.json() };
  }

  /** Opens a thread as a page does: loads it once, then follows it over the socket. */
  async open(threadId: string, options: StreamOptions = {}): Promise<StandardThread> {
    const thread = new StandardThread(this, threadId, { ...options, retryMs: this.#retryMs });
    await thread.load();
    await thread.connect();
    return thread;
  }

  async streamUrl(threadId: string, { includeSilent = false, depth = 0 }: StreamOptions): Promise<string> {
    const url = new URL(`${this.#endpoint}/threads/${threadId}/stream`);
    if (this.#token !== undefined) {
      const { body } = await this.call('POST', '/auth/websocket-ticket', { pathname: url.pathname });
      url.searchParams.set('ticket', body.ticket);
    }
    if (includeSilent) url.searchParams.set('includeSilent', 'true');
    if (depth > 0) url.searchParams.set('depth', String(depth));
    url.protocol = 'ws:';
    return url.href;
  }
}

export class StandardThread {
  readonly rows = new Map<string, Json>();
  readonly events: Json[] = [];
  readonly errors: string[] = [];
  /** Frames of all sockets, in the order of arrival. */
  readonly frames: Json[] = [];
  /** Number of sockets that were opened. */
  opened = 0;
  /** Messages whose row had not arrived when they were accepted. */
  readonly flickered: string[] = [];
  readonly #client: StandardClient;
  readonly #id: string;
  readonly #options: StreamOptions & { readonly retryMs: number };
  #socket: WebSocket | null = null;
  #closed = false;
  #failed = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(client: StandardClient, id: string, options: StreamOptions & { readonly retryMs: number }) {
    this.#client = client;
    this.#id = id;
    this.#options = options;
  }

  async load(): Promise<void> {
    for (const row of await this.stored()) this.rows.set(row.id, row);
  }

  /** Fetches the messages of the thread from the server. */
  async stored(): Promise<Json[]> {
    const { includeSilent = false, depth = 0 } = this.#options;
    const query = `limit=100&offset=0&order=asc&depth=${depth}&includeSilent=${includeSilent}`;
    const { body } = await this.#client.call('GET', `/threads/${this.#id}/messages?${query}`);
    return body.messages;
  }

  /** Returns the rows in the order in which a page shows them. */
  shown(): Json[] {
    return [...this.rows.values()].toSorted((a, b) => a.created_at - b.created_at);
  }

  async connect(): Promise<void> {
    if (this.#closed) return;
    try {
      this.#listen(new WebSocket(await this.#client.streamUrl(this.#id, this.#options)));
    } catch {
      this.#again();
    }
    await eventually('the socket is open', () => this.opened > 0 || this.#closed);
  }

  #listen(socket: WebSocket): void {
    this.#socket = socket;
    socket.onopen = () => {
      this.opened += 1;
      this.#failed = 0;
    };
    socket.onmessage = ({ data }) => {
      if (data !== 'pong' && data !== 'stream_pong') this.#hear(JSON.parse(String(data)));
      else this.frames.push(data);
    };
    socket.onclose = () => this.#again();
  }

  #again(): void {
    if (this.#closed) return;
    const wait = this.#options.retryMs * Math.min(30, 2 ** this.#failed);
    this.#failed += 1;
    this.#timer = setTimeout(() => {
      this.#client.streamUrl(this.#id, this.#options).then(
        (url) => {
          if (!this.#closed) this.#listen(new WebSocket(url));
        },
        () => this.#again(),
      );
    }, wait);
  }

  #hear(frame: Json): void {
    this.frames.push(frame);
    if (frame.type === 'message_data') this.rows.set(frame.data.id, frame.data);
    else if (frame.type === 'message_chunk') {
      const row = this.rows.get(frame.message_id);
      if (row) this.rows.set(row.id, { ...row, content: (row.content ?? '') + frame.chunk });
    } else if (frame.type === 'event') this.events.push(frame);
    else if (frame.type === 'error') this.errors.push(frame.error);
  }

  /** Adds an optimistic row for the message, and removes it when the server has answered. */
  async send(content: string, more: object = {}): Promise<string> {
    const shown = `optimistic-${this.rows.size}`;
    this.rows.set(shown, { id: shown, role: 'user', content, created_at: Date.now() * 1000 });
    try {
      const { body } = await this.#client.call('POST', `/threads/${this.#id}/messages`, {
        role: 'user',
        content,
        ...more,
      });
      if (!this.rows.has(body.messageId)) this.flickered.push(body.messageId);
      return body.messageId;
    } finally {
      this.rows.delete(shown);
    }
  }

  say(text: string): void {
    this.#socket?.send(text);
  }

  /** Simulates a broken connection. */
  cut(): void {
    this.#socket?.close();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
  }
}
