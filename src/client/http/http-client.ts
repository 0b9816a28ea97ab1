/**
 * The client over the HTTP API, for browsers and other services. Its names, records and errors are those of the client
 * that reaches Temporal and the store. It imports nothing that a browser lacks.
 * - Every message has an id before it is sent, generated here if the caller gave none. So it can be sent again if its
 *   response was lost, and is stored once.
 * - A request that would have another effect the second time is never repeated: `stop`, `continue`, `removeEffect`, a
 *   cancel that names no execution, and the start of a thread whose id the caller chose.
 */

import {
  checkChanges,
  checkCountThreads,
  checkFollow,
  checkMessagePage,
  checkModelCallPage,
  checkPage,
  checkRunPage,
  checkThreadPage,
  checkValuePage,
  checkWaitPage,
} from '../../core/author/read-options.ts';
import type { ScheduledEffect } from '../../core/author/thread-effect.ts';
import type { GetLogsOptions, Log } from '../../core/author/thread-log.ts';
import type { GetMessagesOptions, MessagePage } from '../../core/author/thread-message.ts';
import type { ThreadEvent } from '../../core/event/thread-event.ts';
import type { BudgetLine } from '../../core/governance/budget-line.ts';
import type { CancelRequest } from '../../core/governance/cancellation.ts';
import type { Message } from '../../core/message/message.ts';
import { isRuntimeError, RuntimeError } from '../../core/value/error.ts';
import type { WaitAnswer } from '../../core/wait/answer.ts';
import type { WaitVerdict } from '../../core/wait/wait.ts';
import { checkFollowForm, type FollowAs, type FormEvents, type LogForm } from '../../projections/log-form.ts';
import type { Projected } from '../../projections/projection.ts';
import type { ThreadVariable } from '../../store/env/env-record.ts';
import type { ExecutionRecord } from '../../store/execution/execution-record.ts';
import type { FamilyMember } from '../../store/family/family-record.ts';
import type { ForkedThread } from '../../store/fork/fork-record.ts';
import type { SupersededTail } from '../../store/message/message-record.ts';
import type { ListModelCalls, ModelCallRecord, ShownRequest } from '../../store/request/request-record.ts';
import type {
  CountThreads,
  ListThreads,
  ThreadChanges,
  ThreadCounts,
  ThreadRecord,
} from '../../store/thread/thread-record.ts';
import type { ListWaits, Wait } from '../../store/wait/wait-record.ts';
import type { AnswerOptions } from '../answer-wait.ts';
import { feedSink } from '../event-sink.ts';
import {
  type AwaitChanges,
  type FollowChanges,
  followChanges,
  MAX_CHANGES_WAIT_MS,
} from '../follow-changes.ts';
import type { FollowOptions } from '../follow-events.ts';
import { newThreadId } from '../new-thread-id.ts';
import type { OutgoingMessage, StartMessage } from '../outgoing.ts';
import { outputField } from '../outgoing-output.ts';
import type { ForkThread, StartThread } from '../start-options.ts';
import type { StoredFiles, StoredValues } from '../stored-threads.ts';
import type { Supersede } from '../supersede.ts';
import type { Tasks } from '../tasks.ts';
import { toCursor } from '../thread-cursor.ts';
import type { ThreadsClient, ThreadsRuns } from '../threads-client.ts';
import type { IdleOptions } from '../wait-for-idle.ts';
import type { Answers, PathIds, ServerInfo, WhoAmI } from './answers.ts';
import { type HttpConnection, type HttpConnectOptions, pathOf, toHttpConnection } from './http-place.ts';
import { HttpTasks } from './http-tasks.ts';
import { liveLines } from './live-lines.ts';
import { messageJson, newId, startJson, toStream } from './outgoing-json.ts';
import { callRoute, requestFile, requestWithRetry, UPLOAD_TIMEOUT_MS } from './patience.ts';
import { SentItems } from './sent-items.ts';

/**
 * Threads over HTTP (docs/client.md). Each method rejects as that of `RuntimeClient` does, and with `Unauthorized`,
 * `Forbidden`, and `ServerUnavailable` if no API answers.
 * @example
 * ```ts
 * const client = await HttpClient.connect({ url: 'https://agents.example.com', token: 'TOKEN' });
 * const { threadId } = await client.startThread({ agent: 'assistant', messages: [{ content: 'hello' }] });
 * for await (const event of client.events(threadId)) if (event.type === 'execution.ended') break;
 * await client.close();
 * ```
 */
export class HttpClient implements ThreadsClient {
  readonly runs: ThreadsRuns;
  readonly tasks: Tasks;
  readonly #connection: HttpConnection;
  readonly #closing: AbortController;
  readonly #sent = new SentItems();

  private constructor(place: HttpConnection, closing: AbortController) {
    this.#connection = place;
    this.#closing = closing;
    this.tasks = new HttpTasks(place);
    this.runs = {
      list: async (options) => {
        const { before, ...query } = checkRunPage(options) ?? {};
        if (before)
          throw new RuntimeError('InvalidRequest', 'The API cannot page runs by "before": omit it.');
        return (await this.#call('GET /v1/runs', {}, { query })).runs;
      },
      get: (runId, threadId) => this.#call('GET /v1/runs/{runId}', { runId }, { query: { threadId } }),
      report: (runId, { threadId } = {}) =>
        this.#call('GET /v1/runs/{runId}/report', { runId }, { query: { threadId } }),
      events: (threadId, options) => this.#followForm(threadId, { ...options, as: 'run' }),
      attach: async (threadId, sink, { withinMs, ...options } = {}) =>
        feedSink(this.#followForm(threadId, { ...options, as: 'run' }), sink, { withinMs }),
    };
  }

  /** Throws `InvalidConfiguration` if there is no API at the address, and `ServerUnavailable` if nothing answers. */
  static async connect(options: HttpConnectOptions): Promise<HttpClient> {
    const closing = new AbortController();
    const place = toHttpConnection(options, closing.signal);
    await requestWithRetry(place, { path: '/healthz', again: true }, (response) => response.text());
    return new HttpClient(place, closing);
  }

  /**
   * Starts a thread. A start whose response was lost is repeated if the id was generated here. If you chose the
   * id, it rejects with `ServerUnavailable`; the same start again shows whether the thread exists.
   */
  async startThread(thread: StartThread): Promise<{ threadId: string }> {
    const threadId = thread.threadId ?? newThreadId(thread.agent);
    const messages = (thread.messages ?? []).map((message) => this.#withId(message));
    const body = startJson({ ...thread, threadId, messages });
    const own = thread.threadId === undefined;
    const asked = this.#call('POST /v1/threads', {}, { body, again: own });
    const started = await asked.catch(async (error: unknown) => {
      const isThere = isRuntimeError(error, 'InvalidStart') || isRuntimeError(error, 'ExecutionRunning');
      if (!own || !isThere) throw error;
      // No other client knows this id, so an existing thread is the one that was started here.
      await this.getThread(threadId).catch(() => {
        throw error;
      });
      return { threadId };
    });
    for (const message of messages)
      if (message.id !== undefined) this.#sent.add(threadId, message.id, message);
    return started;
  }

  /** Repeated under the same id. */
  async forkThread(
    threadId: string,
    { message, threadId: given, ...options }: ForkThread = {},
  ): Promise<ForkedThread> {
    const forkId = given ?? newThreadId('fork');
    const body = { ...options, threadId: forkId, message: message && messageJson(message) };
    const forked = await this.#call('POST /v1/threads/{threadId}/fork', { threadId }, { body, again: true });
    if (message) this.#sent.add(forkId, forked.messageId ?? '', message);
    return forked;
  }

  /** Under the same id, however often it is sent. */
  async queueMessage(threadId: string, message: OutgoingMessage): Promise<{ id: string }> {
    const body = messageJson(message);
    const key = message.id === undefined && message.executionId === undefined ? newId() : undefined;
    const answer = await this.#call(
      'POST /v1/threads/{threadId}/messages',
      { threadId },
      {
        body,
        again: true,
        ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
      },
    );
    this.#sent.add(threadId, answer.id, message);
    return answer;
  }

  /** Another execution may be running by the time of a repetition. */
  async stop(threadId: string, reason?: string): Promise<void> {
    await this.#call('POST /v1/threads/{threadId}/stop', { threadId }, { body: { reason } });
    this.#sent.signalled(threadId);
  }

  /** The thread may have been stopped again by the time of a repetition. */
  async continue(threadId: string): Promise<void> {
    await this.#call('POST /v1/threads/{threadId}/continue', { threadId }, { body: {} });
    this.#sent.signalled(threadId);
  }

  /** Under the same id, however often it is sent. */
  async supersede(
    threadId: string,
    { requestId, message, output, ...request }: Supersede = {},
  ): Promise<SupersededTail> {
    const type = output === null ? { output } : outputField(output);
    const body = { ...request, ...type, ...(message && { message: messageJson(message) }) };
    const headers = { 'idempotency-key': requestId ?? newId() };
    const path = 'POST /v1/threads/{threadId}/supersede';
    const superseded = await this.#call(path, { threadId }, { body, headers, again: true });
    this.#sent.add(threadId, superseded.messageId, {});
    return superseded;
  }

  /** Repeated only if the execution is named. */
  async cancelExecution(threadId: string, request: CancelRequest = {}): Promise<ExecutionRecord> {
    const again = request.executionId !== undefined;
    const record = await this.#call(
      'POST /v1/threads/{threadId}/cancel',
      { threadId },
      {
        body: request,
        again,
      },
    );
    this.#sent.signalled(threadId);
    return record;
  }

  async terminate(threadId: string, reason?: string): Promise<void> {
    await this.#call(
      'POST /v1/threads/{threadId}/terminate',
      { threadId },
      { body: { reason }, again: true },
    );
    this.#sent.signalled(threadId);
  }

  /**
   * Like `waitForIdle` of `RuntimeClient`; a reader of `events` does not need it. Rejects with the reason of `signal`.
   */
  waitForIdle(threadId: string, options: IdleOptions = {}): Promise<ThreadRecord> {
    return this.#sent.waitForIdle(this.#connection, threadId, options);
  }

  /** If the response was lost, the request is repeated: an answer that has counted then has the verdict `duplicate`. */
  answerWait(waitId: string, answer: WaitAnswer, options: AnswerOptions = {}): Promise<WaitVerdict> {
    const body = { ...answer, ...options };
    return this.#call('POST /v1/waits/{waitId}/answer', { waitId }, { body, again: true });
  }

  async listWaits(options?: ListWaits): Promise<readonly Wait[]> {
    return (await this.#call('GET /v1/waits', {}, { query: checkWaitPage(options) })).waits;
  }

  getWait(waitId: string): Promise<Wait> {
    return this.#call('GET /v1/waits/{waitId}', { waitId });
  }

  getThread(threadId: string): Promise<ThreadRecord> {
    return this.#call('GET /v1/threads/{threadId}', { threadId });
  }

  async getFamily(threadId: string): Promise<readonly FamilyMember[]> {
    return (await this.#call('GET /v1/threads/{threadId}/family', { threadId })).family;
  }

  async getBudget(threadId: string): Promise<readonly BudgetLine[]> {
    return (await this.#call('GET /v1/threads/{threadId}/budget', { threadId })).lines;
  }

  async listThreads(options?: ListThreads): Promise<readonly ThreadRecord[]> {
    const { before, ...filters } = checkThreadPage(options) ?? {};
    const query = before ? { ...filters, cursor: toCursor(before) } : filters;
    return (await this.#call('GET /v1/threads', {}, { query })).threads;
  }

  countThreads(options?: CountThreads): Promise<ThreadCounts> {
    const { by, ...filters } = checkCountThreads(options) ?? {};
    return this.#call('GET /v1/threads/counts', {}, { query: { ...filters, by: by?.join() } });
  }

  /** `waitMs`: at most 25 seconds. The token decides whose threads are among them. */
  listChanges(options: AwaitChanges = {}): Promise<ThreadChanges> {
    const { waitMs = 0, signal, ...query } = checkChanges(options);
    const wait = Math.min(waitMs, MAX_CHANGES_WAIT_MS) / 1000;
    return this.#call('GET /v1/threads/changes', {}, { query: { ...query, wait }, signal });
  }

  /** Resumes by itself if a connection breaks: a change whose response was lost comes again. */
  changes(options: FollowChanges = {}): AsyncIterable<ThreadChanges> {
    return followChanges((asked) => this.listChanges(asked), options);
  }

  async listThreadEnv(threadId: string): Promise<readonly ThreadVariable[]> {
    return (await this.#call('GET /v1/threads/{threadId}/env', { threadId })).variables;
  }

  /** The name, scopes and owner of this client's token. */
  whoami(): Promise<WhoAmI> {
    return this.#call('GET /v1/whoami', {});
  }

  /** The version of the server, and the Temporal server that it uses. */
  getServer(): Promise<ServerInfo> {
    return this.#call('GET /v1/server', {});
  }

  async getMessages(threadId: string, options?: GetMessagesOptions): Promise<MessagePage> {
    const query = checkMessagePage(options);
    return this.#call('GET /v1/threads/{threadId}/messages', { threadId }, { query });
  }

  async getMessage(threadId: string, messageId: string): Promise<Message | null> {
    const ids = { threadId, messageId };
    const found = this.#call('GET /v1/threads/{threadId}/messages/{messageId}', ids);
    return found.catch(nullOnError('MessageNotFound'));
  }

  async getLogs(threadId: string, options?: GetLogsOptions): Promise<Log[]> {
    const query = checkPage(options);
    return (await this.#call('GET /v1/threads/{threadId}/logs', { threadId }, { query })).logs;
  }

  async listModelCalls(threadId: string, options?: ListModelCalls): Promise<readonly ModelCallRecord[]> {
    const query = checkModelCallPage(options);
    return (await this.#call('GET /v1/threads/{threadId}/model-calls', { threadId }, { query })).modelCalls;
  }

  getRequest(threadId: string, callId: string): Promise<ShownRequest> {
    return this.#call('GET /v1/threads/{threadId}/model-calls/{callId}/request', { threadId, callId });
  }

  /**
   * Like `events` of `RuntimeClient`, for a thread that exists. If a connection breaks or the server restarts, the
   * reading resumes by itself behind the last event, and yields each event once. Rejects with `ThreadNotFound`,
   * `InvalidCursor`, and `ServerUnavailable` if the server is unreachable for longer than `patienceMs`.
   */
  events<Form extends LogForm>(
    threadId: string,
    options: FollowAs<Form>,
  ): AsyncIterable<Projected<FormEvents[Form]>>;
  events(threadId: string, options?: FollowOptions): AsyncIterable<ThreadEvent>;
  events(
    threadId: string,
    options: FollowOptions | FollowAs<LogForm> = {},
  ): AsyncIterable<ThreadEvent | Projected<FormEvents[LogForm]>> {
    return 'as' in options
      ? this.#followForm(threadId, options)
      : this.#followEvents(threadId, checkFollow(options));
  }

  async listEffects(threadId: string, name?: string): Promise<ScheduledEffect[]> {
    const query = { name };
    return (await this.#call('GET /v1/threads/{threadId}/effects', { threadId }, { query })).effects;
  }

  /** A repetition would return false. */
  async removeEffect(threadId: string, effectId: string): Promise<boolean> {
    const ids = { threadId, effectId };
    return (await this.#call('DELETE /v1/threads/{threadId}/effects/{effectId}', ids)).removed;
  }

  /**
   * A stream is sent once, and rejects with `ServerUnavailable` if the connection breaks; bytes are sent again if the
   * response was lost.
   */
  files(threadId: string): Pick<StoredFiles, 'readdir' | 'read' | 'write'> {
    return {
      write: async ({ path, content, mimeType, metadata }) => {
        if (metadata)
          throw new RuntimeError('InvalidRequest', 'The API does not accept metadata for files: omit it.');
        const stream = Symbol.asyncIterator in content;
        return this.#call(
          'PUT /v1/threads/{threadId}/file',
          { threadId },
          {
            query: { path },
            headers: { 'content-type': mimeType },
            bytes: stream ? toStream(content) : (content as Uint8Array<ArrayBuffer>),
            again: !stream,
            withinMs: UPLOAD_TIMEOUT_MS,
          },
        );
      },
      readdir: (path) => this.#call('GET /v1/threads/{threadId}/files', { threadId }, { query: { path } }),
      read: (path) => requestFile(this.#connection, threadId, path).catch(nullOnError('FileNotFound')),
    };
  }

  values(threadId: string): StoredValues {
    return {
      get: async (key) =>
        (await this.#call('GET /v1/threads/{threadId}/values/{key}', { threadId, key })).value,
      list: async (options) => {
        const query = checkValuePage(options);
        return (await this.#call('GET /v1/threads/{threadId}/values', { threadId }, { query })).values;
      },
    };
  }

  /** Ends readings without an error; calls in progress reject. */
  async close(): Promise<void> {
    this.#closing.abort(new RuntimeError('ServerUnavailable', 'The client is closed.'));
  }

  async *#followEvents(threadId: string, options: FollowOptions): AsyncGenerator<ThreadEvent> {
    const { after, follow = true, signal } = options;
    const cursor = after === undefined ? undefined : String(after);
    const path = pathOf`/v1/threads/${threadId}/events`;
    for await (const { event } of liveLines(this.#connection, {
      path,
      query: {},
      after: cursor,
      follow,
      signal,
    }))
      yield event as ThreadEvent;
  }

  async *#followForm<Form extends LogForm>(
    threadId: string,
    options: FollowAs<Form>,
  ): AsyncGenerator<Projected<FormEvents[Form]>> {
    const { as, run, follow = true, ...reading } = checkFollowForm(options);
    const path = pathOf`/v1/threads/${threadId}/events`;
    const live = { ...reading, path, query: { as, run }, follow };
    for await (const { cursor, event } of liveLines(this.#connection, live))
      yield { cursor, event: event as FormEvents[Form] };
  }

  #withId(message: StartMessage): StartMessage {
    return message.id === undefined && message.executionId === undefined
      ? { ...message, id: newId() }
      : message;
  }

  #call<Route extends keyof Answers>(
    route: Route,
    ids: PathIds<Route>,
    request?: Parameters<typeof callRoute>[3],
  ): Promise<Answers[Route]> {
    return callRoute(this.#connection, route, ids, request);
  }
}

function nullOnError(code: 'MessageNotFound' | 'FileNotFound'): (error: unknown) => null {
  return (error) => {
    if (isRuntimeError(error, code)) return null;
    throw error;
  };
}
