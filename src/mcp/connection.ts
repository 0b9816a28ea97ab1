/**
 * One connection to a server, as an untrusted side: bounded in time and size, and given up at its first fault.
 * N1. A request ends with its answer, its time, its caller's signal, or the end of the connection; then the connection is closed, unless it was
 *     answered in order.
 * N2. An answer to what was not asked is a fault. So is a request to us: nothing is offered that it could ask for.
 * N3. Schemas of a server are not run.
 */
import {
  Client,
  type JSONRPCMessage,
  type JsonSchemaValidatorResult,
  type jsonSchemaValidator,
  type RequestOptions,
  type Transport,
} from '@modelcontextprotocol/client';
import type { McpReach } from '../core/author/mcp-server.ts';
import { quote } from '../outbound/index.ts';
import { isAnswered, isMcpFailure, McpFailure } from './failure.ts';
import { HttpTransport } from './http.ts';
import { MCP_LIMITS } from './limit.ts';
import { StdioTransport } from './stdio.ts';

export interface McpConnection {
  /** Closed: by a fault, by its server's end, or by us. */
  readonly closed: boolean;
  /** One request at a time. Rejects with an McpFailure or with the signal's reason, closed then; with an error of the protocol (`isAnswered`), in order. */
  ask<T>(send: (client: Client, options: RequestOptions) => Promise<T>, terms: AskTerms): Promise<T>;
  close(): Promise<void>;
}

export interface AskTerms {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

type OurTransport = StdioTransport | HttpTransport;

/** N3: what a tool answers is shown as it is. */
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
    // Servers of earlier versions may end at a question that they do not know: they are asked in their own way, once.
    const ended = reach.by === 'stdio' && isMcpFailure(error) && error.code === 'McpUnavailable';
    if (!ended || !first.started || terms.signal.aborted) throw error;
  }
  const second = new Connection(reach);
  await second.open('legacy', terms);
  return second;
}

class Connection implements McpConnection {
  readonly #transport: OurTransport;
  readonly #asked = new Set<unknown>();
  readonly #broken = Promise.withResolvers<never>();
  #client: Client | undefined;
  #fault: McpFailure | undefined;
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
    // In the earlier version a question comes within the call, and nobody can be waited for: it is declined.
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
    signal.addEventListener('abort', abort, { once: true });
    try {
      // The client's own time is a little longer than ours, which ends the connection too.
      const options = { signal: own.signal, timeout: timeoutMs + 1000, maxTotalTimeout: timeoutMs + 1000 };
      return await Promise.race([send(this.#client as Client, options), late.promise, this.#broken.promise]);
    } catch (error) {
      if (isAnswered(error)) throw error;
      // N1: a server that honours it stops.
      own.abort(new Error('The call was given up.'));
      const failure = this.#fault ?? this.#transport.failure ?? toFailure(error);
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

  /** N2: the client chains what it finds here. */
  #observe(transport: Transport): void {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      if ('method' in message && 'id' in message) this.#asked.add(message.id);
      return send(message, options);
    };
    transport.onmessage = (message: JSONRPCMessage) => {
      if ('method' in message || !('id' in message)) return;
      if (!this.#asked.delete(message.id))
        this.#give(
          new McpFailure('McpInvalid', `It answered what was not asked: id ${quote(message.id, 40)}.`),
        );
    };
    // Over HTTP what cannot be read is told here alone: the call would wait for its time.
    transport.onerror = ({ name, message }) => {
      const { failure } = this.#transport;
      const isUnreadable = name === 'SyntaxError' || name === 'ZodError';
      if (failure) this.#give(failure);
      else if (isUnreadable)
        this.#give(
          new McpFailure('McpInvalid', `It said what the protocol does not have: ${quote(message, 300)}`),
        );
    };
    transport.onclose = () => {
      this.closed = true;
      this.#broken.reject(transport === this.#transport ? this.#transport.failure : undefined);
    };
  }

  #give(fault: McpFailure): void {
    this.#fault ??= fault;
    this.#broken.reject(fault);
    void this.close();
  }
}

function toFailure(error: unknown): McpFailure {
  if (isMcpFailure(error)) return error;
  const { code, message, cause } = (error ?? {}) as { code?: unknown; message?: unknown; cause?: unknown };
  if (isMcpFailure(cause)) return cause;
  if (code === 'REQUEST_TIMEOUT') return new McpFailure('McpTimeout', 'It did not answer in time.');
  if (code === 'LIST_PAGINATION_EXCEEDED')
    return new McpFailure('McpTooLarge', `Its list has more than ${MCP_LIMITS.listPages} pages.`);
  if (code === 'INVALID_RESULT' || (error as Error)?.name === 'ZodError')
    return new McpFailure(
      'McpInvalid',
      `It answered what the protocol does not have: ${quote(message, 300)}`,
    );
  const deeper = cause instanceof Error ? `: ${quote(cause.message, 200)}` : '';
  return new McpFailure('McpUnavailable', `${quote(message, 300)}${deeper}`);
}
