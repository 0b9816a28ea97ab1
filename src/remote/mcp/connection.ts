/**
 * One connection to an untrusted server: bounded in time and size, and closed at the first fault.
 * - A request ends with its answer, its timeout, its caller's signal or the end of the connection. The connection
 *   stays open only if the server answered by the protocol.
 * - An answer to a request that was not sent is a fault. Requests of the server are declined or refused.
 * - Schemas of a server are never compiled or evaluated.
 */
import {
  Client,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type JsonSchemaValidatorResult,
  type jsonSchemaValidator,
  type RequestOptions,
  type Transport,
} from '@modelcontextprotocol/client';
import type { McpReach } from '../../core/author/mcp-server.ts';
import { quote } from '../wall/index.ts';
import { isAnswered, isMcpFailure, McpFailure, toFailure } from './failure.ts';
import { HttpTransport } from './http.ts';
import { MCP_LIMITS } from './limit.ts';
import { StdioTransport } from './stdio.ts';
import { type LeftTool, readToolList } from './tool-list.ts';

export interface McpConnection {
  /** True after a fault, the end of the server, or `close`. */
  readonly closed: boolean;
  /** What the newest list left out, and which tools declare a structured output. */
  readonly listed: ListedFacts;
  /**
   * One request at a time. Rejects with an McpFailure or the signal's reason, and the connection is closed; or with an
   * error of the protocol (`isAnswered`), and the connection stays open.
   */
  ask<T>(send: (client: Client, options: RequestOptions) => Promise<T>, terms: AskTerms): Promise<T>;
  close(): Promise<void>;
}

export interface ListedFacts {
  readonly left: LeftTool[];
  readonly structured: Set<string>;
}

export interface AskTerms {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

type OurTransport = StdioTransport | HttpTransport;

/** Results of tools are not validated. */
const NO_VALIDATION: jsonSchemaValidator = {
  getValidator:
    <T>() =>
    (input: unknown): JsonSchemaValidatorResult<T> => ({
      valid: true,
      data: input as T,
      errorMessage: undefined,
    }),
};

export async function openConnection(reach: McpReach, terms: AskTerms): Promise<McpConnection> {
  const first = new Connection(reach);
  try {
    await first.open('auto', terms);
    return first;
  } catch (error) {
    // Servers of earlier versions may exit at an unknown request: one retry uses the legacy handshake.
    const ended = reach.by === 'stdio' && isMcpFailure(error) && error.code === 'McpUnavailable';
    if (!ended || !first.started || terms.signal.aborted) throw error;
  }
  const second = new Connection(reach);
  await second.open('legacy', terms);
  return second;
}

class Connection implements McpConnection {
  readonly #transport: OurTransport;
  /** Methods of the open requests, by id. */
  readonly #asked = new Map<unknown, string>();
  readonly #broken = Promise.withResolvers<never>();
  #client: Client | undefined;
  #fault: McpFailure | undefined;
  readonly listed: ListedFacts = { left: [], structured: new Set() };
  closed = false;
  started = false;

  constructor(reach: McpReach) {
    this.#transport = reach.by === 'stdio' ? new StdioTransport(reach) : new HttpTransport(reach);
    this.#broken.promise.catch(() => {});
  }

  async open(mode: 'auto' | 'legacy', terms: AskTerms): Promise<void> {
    const client = new Client(
      { name: 'everthread', version: '0.1.0' },
      {
        capabilities: { elicitation: { form: {} } },
        versionNegotiation: { mode },
        inputRequired: { autoFulfill: false },
        jsonSchemaValidator: NO_VALIDATION,
        listMaxPages: MCP_LIMITS.listPages,
      },
    );
    // In earlier versions a question arrives during the call, which cannot wait for a person: it is declined.
    client.setRequestHandler('elicitation/create', () => ({ action: 'decline' as const }));
    this.#client = client;
    this.#observe(this.#transport);
    await this.ask(async (_client, options) => {
      await client.connect(this.#transport, options);
    }, terms);
    this.started = true;
  }

  async ask<T>(
    send: (client: Client, options: RequestOptions) => Promise<T>,
    { signal, timeoutMs }: AskTerms,
  ): Promise<T> {
    signal.throwIfAborted();
    this.#transport.allow();
    const late = Promise.withResolvers<never>();
    const own = new AbortController();
    const timer = setTimeout(() => {
      late.reject(new McpFailure('McpTimeout', `It did not answer within ${timeoutMs} ms.`));
    }, timeoutMs);
    const abort = () => late.reject(signal.reason);
    let sent: Promise<T> | undefined;
    signal.addEventListener('abort', abort, { once: true });
    try {
      // The client's timeout is a little longer than ours, so that ours fires first: it also closes the connection.
      const options = { signal: own.signal, timeout: timeoutMs + 1000, maxTotalTimeout: timeoutMs + 1000 };
      sent = send(this.#client as Client, options);
      return await Promise.race([sent, late.promise, this.#broken.promise]);
    } catch (thrown) {
      const error = thrown === CLOSED ? await whyOf(sent, late.promise) : thrown;
      if (isAnswered(error)) throw error;
      // Cancels the request, so that a server that honours this stops.
      own.abort(new Error('The call was abandoned.'));
      const failure = this.#fault ?? this.#transport.failure ?? this.#explain(error);
      await this.close();
      throw signal.aborted ? signal.reason : failure;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    this.#broken.reject(new McpFailure('McpUnavailable', 'Its connection was closed.'));
    await this.#client?.close().catch(() => {});
    await this.#transport.close().catch(() => {});
  }

  /** The client calls the handlers that it finds set here beside its own. */
  #observe(transport: Transport): void {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      if ('method' in message && 'id' in message) this.#noteRequest(message);
      return send(message, options);
    };
    transport.onmessage = (message: JSONRPCMessage) => {
      if ('method' in message || !('id' in message)) return;
      const method = this.#asked.get(message.id);
      if (method === 'tools/list' && 'result' in message) this.#readList(message.result);
      if (!this.#asked.delete(message.id))
        this.#fail(
          new McpFailure(
            'McpInvalid',
            `It answered a request that was not sent: id ${quote(message.id, 40)}.`,
          ),
        );
    };
    // Over HTTP an unreadable message is reported here alone: without this the call would wait for its timeout.
    transport.onerror = ({ name, message }) => {
      const { failure } = this.#transport;
      const isUnreadable = name === 'SyntaxError' || name === 'ZodError';
      if (failure) this.#fail(failure);
      else if (isUnreadable)
        this.#fail(
          this.#explain(new McpFailure('McpInvalid', `It sent an invalid message: ${quote(message, 300)}`)),
        );
    };
    transport.onclose = () => {
      this.closed = true;
      this.#broken.reject(this.#transport.failure ?? CLOSED);
    };
  }

  #noteRequest({ id, method, params }: JSONRPCRequest): void {
    this.#asked.set(id, method);
    if (method !== 'tools/list' || params?.cursor !== undefined) return;
    // A new list, from its first page.
    this.listed.left.length = 0;
    this.listed.structured.clear();
  }

  /** The client gets the same object after this. */
  #readList(result: Record<string, unknown>): void {
    if (!Array.isArray(result.tools)) return;
    const { tools, left, structured } = readToolList(result.tools);
    result.tools = tools;
    this.listed.left.push(...left);
    for (const name of structured) this.listed.structured.add(name);
  }

  #explain(error: unknown): McpFailure {
    const failure = toFailure(error);
    const transport = this.#transport;
    const isAnswer = failure.code === 'McpUnavailable' || failure.code === 'McpInvalid';
    return isAnswer && transport instanceof HttpTransport ? transport.explain(failure) : failure;
  }

  #fail(fault: McpFailure): void {
    this.#fault ??= fault;
    this.#broken.reject(fault);
    void this.close();
  }
}

/** Closed while a request was under way, which knows the reason. */
const CLOSED = new McpFailure('McpUnavailable', 'Its connection was closed.');

/** Why the request has failed. Closing the connection ends it, so this settles at once. */
function whyOf(sent: Promise<unknown> | undefined, late: Promise<never>): Promise<unknown> {
  return Promise.race([sent, late]).then(
    () => CLOSED,
    (why: unknown) => why ?? CLOSED,
  );
}
