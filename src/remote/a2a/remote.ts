/**
 * Sends single requests to an agent elsewhere, through the protocol's published client. Each is bounded in time and
 * size; nothing of the agent is kept between two requests.
 * - Requests carry the author's headers, and go only to origins that D1 allows (card.ts).
 * R3. A stream is only a hint to fetch the task: its content is not trusted, and its errors are ignored. So lost,
 *     duplicate and invented frames change nothing.
 */
import { type Message, type Part, Role, type Task, TaskState } from '@a2a-js/sdk';
import { JsonRpcTransportFactory, RestTransportFactory, type Transport } from '@a2a-js/sdk/client';
import { type WalledFetch, walledFetch } from '../wall/index.ts';
import { type A2aEndpoint, originsOf, type Reach } from './card.ts';
import { A2aFailure } from './failure.ts';
import { A2A_LIMITS } from './limit.ts';
import {
  endsWaiting,
  type RemoteReply,
  type RemoteTask,
  type TaskRef,
  toRemoteReply,
  toTask,
} from './remote-reply.ts';
import { toWallFault, withinTimeout } from './request.ts';

export interface OutgoingPart {
  readonly text?: string;
  readonly data?: unknown;
  readonly file?: { readonly name: string; readonly mimeType: string; readonly bytes: Uint8Array };
}

export interface Outgoing extends TaskRef {
  readonly messageId: string;
  readonly parts: readonly OutgoingPart[];
}

type KnownTaskRef = TaskRef & { readonly taskId: string };

export class A2aRemote {
  readonly #transport: Promise<Transport>;
  readonly #endpoint: A2aEndpoint;
  readonly #timeoutMs: number;

  constructor(endpoint: A2aEndpoint, reach: Reach) {
    this.#endpoint = endpoint;
    this.#timeoutMs = reach.requestTimeoutMs;
    this.#transport = openTransport(endpoint, reach);
    this.#transport.catch(() => {});
  }

  get streams(): boolean {
    return this.#endpoint.streams;
  }

  /** Returns the task that the message begins or continues, in its present state, or the agent's whole answer. */
  async send({ messageId, parts, ...place }: Outgoing, signal: AbortSignal): Promise<RemoteReply> {
    const message: Message = {
      messageId,
      contextId: place.contextId,
      taskId: place.taskId ?? '',
      role: Role.ROLE_USER,
      parts: parts.map(toPart),
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    };
    const configuration = {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      historyLength: undefined,
      // The caller follows a long task by its id.
      returnImmediately: true,
    };
    const request = { tenant: this.#endpoint.tenant, message, configuration, metadata: undefined };
    return this.#ask(signal, async (transport, own) =>
      toRemoteReply(await transport.sendMessage(request, { signal: own }), place),
    );
  }

  get({ taskId: id, ...place }: KnownTaskRef, signal: AbortSignal): Promise<RemoteTask> {
    const request = { tenant: this.#endpoint.tenant, id, historyLength: undefined };
    return this.#ask(signal, async (transport, own) =>
      toTask(await transport.getTask(request, { signal: own }), { ...place, taskId: id }),
    );
  }

  /** Returns the task as it is after the request: some agents answer before they have ended it. */
  cancel({ taskId: id, ...place }: KnownTaskRef, signal: AbortSignal): Promise<RemoteTask> {
    const metadata = { reason: 'The call that started it has ended.' };
    const request = { tenant: this.#endpoint.tenant, id, metadata };
    return this.#ask(signal, async (transport, own) =>
      toTask(await transport.cancelTask(request, { signal: own }), { ...place, taskId: id }),
    );
  }

  /** Returns the tasks of the context, at most those on the first `A2A_LIMITS.listPages` pages of the agent's list. */
  async find(contextId: string, signal: AbortSignal): Promise<RemoteTask[]> {
    const found: RemoteTask[] = [];
    let pageToken = '';
    for (let page = 0; page < A2A_LIMITS.listPages; page++) {
      const request = {
        tenant: this.#endpoint.tenant,
        contextId,
        pageToken,
        pageSize: 50,
        status: TaskState.TASK_STATE_UNSPECIFIED,
        historyLength: undefined,
        statusTimestampAfter: undefined,
        includeArtifacts: false,
      };
      const { tasks, nextPageToken } = await this.#ask(signal, (transport, own) =>
        transport.listTasks(request, { signal: own }),
      );
      const own = tasks.filter((task: Task) => task.contextId === contextId);
      found.push(...own.map((task) => toTask(task, { contextId })));
      if (nextPageToken === '') break;
      pageToken = nextPageToken;
    }
    return found;
  }

  /** R3: resolves once the task seems to have ended or to ask something, the stream is over, or the time is up. */
  async listen(
    { taskId: id }: KnownTaskRef,
    { signal, withinMs }: { signal: AbortSignal; withinMs: number },
  ): Promise<void> {
    await withinTimeout({ signal, timeoutMs: withinMs }, async (own) => {
      const transport = await this.#transport;
      const frames = transport.resubscribeTask({ tenant: this.#endpoint.tenant, id }, { signal: own });
      for await (const frame of frames) if (endsWaiting(frame)) return;
    }).catch((error: unknown) => {
      if (signal.aborted) throw error;
    });
  }

  async #ask<T>(
    signal: AbortSignal,
    work: (transport: Transport, own: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return withinTimeout({ signal, timeoutMs: this.#timeoutMs }, async (own) =>
      work(await this.#transport, own),
    );
  }
}

/** Opens a transport for a minimal card: the client reads no other fields. */
function openTransport({ url, binding }: A2aEndpoint, reach: Reach): Promise<Transport> {
  const origins = originsOf(reach);
  const wall = { allows: ({ origin }: URL) => origins.has(origin), maxBytes: A2A_LIMITS.requestBytes };
  const ask = walledFetch({ ...wall, fault: toWallFault });
  const options = { fetchImpl: withHeaders(ask, reach.headers) as typeof fetch };
  const factory =
    binding === 'JSONRPC' ? new JsonRpcTransportFactory(options) : new RestTransportFactory(options);
  const card = {
    supportedInterfaces: [{ url, protocolBinding: binding, protocolVersion: '1.0', tenant: '' }],
  };
  return factory.create(url, card as unknown as Parameters<typeof factory.create>[1]);
}

/** Statuses outside the protocol become an A2aFailure here: the client would quote the body unescaped. */
function withHeaders(ask: WalledFetch, headers: Readonly<Record<string, string>>): WalledFetch {
  return async (input, init) => {
    const all = new Headers(init?.headers);
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    all.set('a2a-version', '1.0');
    const response = await ask(input, { ...init, headers: all });
    const { status } = response;
    if (status >= 500 || status === 429 || status === 408)
      throw await toHttpFailure(response, 'A2aUnavailable');
    if (status === 401 || status === 403) throw await toHttpFailure(response, 'A2aRefused');
    return response;
  };
}

async function toHttpFailure(response: Response, code: 'A2aUnavailable' | 'A2aRefused'): Promise<A2aFailure> {
  await response.body?.cancel().catch(() => {});
  const { status } = response;
  return new A2aFailure(code, `It answered with status ${status}.`, { unsent: status < 500, number: status });
}

function toPart({ text, data, file }: OutgoingPart): Part {
  const common = { metadata: undefined, filename: '', mediaType: '' };
  if (file)
    return {
      ...common,
      content: { $case: 'raw', value: Buffer.from(file.bytes) },
      filename: file.name,
      mediaType: file.mimeType,
    };
  if (text !== undefined) return { ...common, content: { $case: 'text', value: text } };
  return { ...common, content: { $case: 'data', value: data } };
}
