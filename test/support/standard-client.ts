/**
 * A client of Standard Agents, as its own library behaves on the wire: the same requests, the same frames, the same store. It keeps rows by id,
 * replaces a row by the whole row, appends pieces to rows that it has and drops those of others, forgets its own message when that is accepted,
 * and never asks again for what it has missed.
 */
import { eventually } from './eventually.ts';

// biome-ignore lint/suspicious/noExplicitAny: whatever the door tells
type Json = any;

export interface StandardClientOptions {
  /** The server's address with `/api`. */
  readonly endpoint: string;
  readonly token?: string;
  /** Milliseconds before the first reconnect; then twice as long each time, up to thirty times. */
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

  /** Throws for every status but 2xx, and never reads what such an answer says. */
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

  /** What a page has of a thread: loaded once, and then told by the socket. */
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
  /** Frames as they came, of all sockets. */
  readonly frames: Json[] = [];
  /** Sockets that were opened. */
  opened = 0;
  /** Messages that were not there when they were accepted. */
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

  /** The thread as the server lists it. */
  async stored(): Promise<Json[]> {
    const { includeSilent = false, depth = 0 } = this.#options;
    const query = `limit=100&offset=0&order=asc&depth=${depth}&includeSilent=${includeSilent}`;
    const { body } = await this.#client.call('GET', `/threads/${this.#id}/messages?${query}`);
    return body.messages;
  }

  /** Its rows as a page shows them. */
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

  /** Shows the message at once, and forgets that row when the server has taken it. */
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

  /** The connection breaks. */
  cut(): void {
    this.#socket?.close();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
  }
}
