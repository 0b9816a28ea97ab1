/**
 * `runAgentTask` and `runAgentTaskStream` start a task of the engine and follow it to its end. An adapter that is
 * named is a task of `agents/tasks`, which any worker can continue. One that is passed as an object works in this
 * process, and in the next one that passes it for the same id: the id names the task's queue. Without an id no other
 * process can find the task, so it is lost with its process.
 */
import { randomUUID } from 'node:crypto';
import { holdAdapter } from '../../../client/adapter-presence.ts';
import { RuntimeClient } from '../../../client/runtime-client.ts';
import type { StartTask } from '../../../client/tasks.ts';
import type { ManifestDefinition } from '../../../core/author/manifest.ts';
import type { AgentAdapter, TaskSettings } from '../../../core/author/task.ts';
import type { AgentTaskSpec } from '../../../core/task/spec.ts';
import { defineTask, registryFrom } from '../../../definitions/index.ts';
import type { RuntimeStreamEvent } from '../../../projections/task/stream-event.ts';
import { type EngineOptions, openInProcess } from '../../../worker/in-process.ts';
import type { AgentExecutionBackend, BackendInput } from '../backend/backend.ts';
import { ConfigError, TaskAlreadyRunningError } from '../failure.ts';
import { type BackendAdapter, backendTask } from './backend-task.ts';
import { type AgentTaskResult, readResult } from './task-result.ts';

/** An adapter that is passed as an object: its functions, and the settings of the task. */
export type GivenAdapter<State = unknown, Action = unknown> = AgentAdapter<State, Action> & TaskSettings;

export interface RunAgentTaskOptions<State = unknown, Action = unknown> extends EngineOptions {
  /**
   * The same id again attaches to the same task, in any process, and does not run it twice; with other content it is
   * refused. The id is generated if absent.
   */
  readonly task: Omit<AgentTaskSpec, 'id'> & { readonly id?: string };
  /**
   * The name of a task in `agents/tasks`, or an adapter, which lives with this process. If the process is lost, the
   * next one that passes an adapter for the same id continues the task; a task without an id of its caller fails with
   * `ProducerLost` after 30 s without a sign of life. Absent if there is a `backend`.
   */
  readonly adapter?: string | GivenAdapter<State, Action>;
  /**
   * The manifest that the task belongs to: its knowledge is required, its rubric scores the end (`runRecords`), and its
   * hash is kept. Its `run` is the adapter if that is a name and none is given. A task of `agents/tasks` has its manifest
   * there.
   */
  readonly agent?: ManifestDefinition;
  /** Does the task by being prompted (see `backendTask`). It lives with this process, unlike one in `agents/tasks`. */
  readonly backend?: AgentExecutionBackend;
  /** The prompt of the backend; `task.intent` unless given. */
  readonly input?: Pick<BackendInput, 'message' | 'messages'>;
  /**
   * Id of the backend's session. Fails with `SessionNotFound` if it does not exist and `resume` is true, and with
   * `SessionMismatch` if it belongs to another kind of backend.
   */
  readonly sessionId?: string;
  readonly resume?: boolean;
  /** Cursor: only events after it are streamed. For a task whose id is given. */
  readonly after?: string;
  /** Client of the engine; a separate one is opened unless given. Only used for an adapter that is named. */
  readonly client?: RuntimeClient;
  readonly scenarioId?: string;
  readonly userId?: string;
  /** Aborts the task. */
  readonly signal?: AbortSignal;
  /** Called with each event of the stream; what it throws is ignored. */
  readonly onEvent?: (event: RuntimeStreamEvent) => void;
}

/** An event with its cursor: a reader in any process can resume after it. */
export type StreamedEvent = RuntimeStreamEvent & { readonly cursor: string };

/**
 * Runs a task to its end, however long it waits for people. A task that has ended is not run again: its result is
 * returned. Rejects as `client.tasks.start` does (`ExecutionConflict` for other content under a used id), and with
 * `TaskAlreadyRunningError` while this process runs an adapter under the same id.
 * @example
 * ```ts
 * const { status, control } = await runAgentTask({
 *   task: { id: 'count-1', intent: 'count-to-one' },
 *   adapter: {
 *     observe: ({ history }) => ({ count: history.length }),
 *     validate: ({ state }) => [{ id: 'counted', passed: state.count > 0, score: state.count }],
 *     decide: () => ({ kind: 'act', action: 'add' }),
 *     act: () => 'added',
 *   },
 * });
 * ```
 */
export async function runAgentTask<State = unknown, Action = unknown>(
  options: RunAgentTaskOptions<State, Action>,
): Promise<AgentTaskResult> {
  return withEngine(options, async (engine) => {
    const id = await startTask(engine, options);
    for await (const event of followTask(engine.client, id, options)) notifyListener(options.onEvent, event);
    return readResult(engine.client, id);
  });
}

/**
 * Runs a task like `runAgentTask`, and streams its events; the last one is `final`. Leaving the loop early does not
 * stop the task. But if its adapter was passed as an object, nobody runs the task until an adapter is passed for its id
 * again; without an id of its caller it fails with `ProducerLost`, unless a `taskQueue` was given: another process may
 * continue the task on that queue within 30 s.
 */
export async function* runAgentTaskStream<State = unknown, Action = unknown>(
  options: RunAgentTaskOptions<State, Action>,
): AsyncGenerator<StreamedEvent> {
  const engine = await openEngine(options);
  try {
    const id = await startTask(engine, options);
    for await (const event of followTask(engine.client, id, options)) {
      notifyListener(options.onEvent, event);
      yield event;
    }
  } finally {
    await engine.close();
  }
}

interface OpenEngine {
  readonly client: RuntimeClient;
  /** Name of the task in the registry of the engine. */
  readonly name: string;
  start(given: StartTask): Promise<{ readonly id: string }>;
  close(): Promise<void>;
}

function toEngine(client: RuntimeClient, name: string, close: OpenEngine['close']): OpenEngine {
  return { client, name, start: (given) => client.tasks.start(given), close };
}

function toAdapter(backend: AgentExecutionBackend | undefined): BackendAdapter | undefined {
  return backend && backendTask(backend);
}

/** Name under which an adapter that was passed as an object is registered. */
const ADAPTER_TASK_NAME = 'handed_over';

async function openEngine<State, Action>(options: RunAgentTaskOptions<State, Action>): Promise<OpenEngine> {
  const { agent, adapter = toAdapter(options.backend) ?? agent?.run ?? undefined, client } = options;
  if (adapter === undefined) throw new ConfigError('No adapter: pass "adapter" or "backend".');
  const { store, taskQueue, projectDir, workflowBundle, server, settings } = options;
  if (typeof adapter === 'string') {
    if (client) return toEngine(client, adapter, async () => undefined);
    const shared = {
      ...(store && { store }),
      ...(taskQueue && { taskQueue }),
      ...(projectDir && { projectDir }),
      ...(server && { address: server.address, namespace: server.namespace }),
    };
    const own = await RuntimeClient.connect(shared);
    return toEngine(own, adapter, () => own.close());
  }
  const registry = registryFrom({
    tasks: { [ADAPTER_TASK_NAME]: defineTask(adapter as GivenAdapter) },
    ...(agent && { manifests: { [ADAPTER_TASK_NAME]: { ...agent, run: ADAPTER_TASK_NAME } } }),
  });
  const { id } = options.task;
  const queue = taskQueue ?? `tangle-${id ?? randomUUID()}`;
  const reading = readHere(id);
  const engine = await openInProcess(registry, {
    taskQueue: queue,
    ...(store && { store }),
    ...(projectDir && { projectDir }),
    ...(workflowBundle && { workflowBundle }),
    ...(server && { server }),
    ...(settings && { settings }),
  }).catch((error) => {
    reading.close();
    throw error;
  });
  if (id !== undefined)
    return toEngine(engine.client, ADAPTER_TASK_NAME, () => engine.close().finally(reading.close));
  const presence = holdAdapter(engine.client, { taskQueue: queue });
  return {
    client: engine.client,
    name: ADAPTER_TASK_NAME,
    start: (given) => presence.start(given),
    async close() {
      try {
        await engine.shutdown();
        await presence.end({ leaves: taskQueue === undefined });
      } finally {
        await engine.close();
      }
    },
  };
}

/** Ids of the tasks whose adapters this process runs. */
const READ_HERE = new Set<string>();

/** Two adapters of one process would take turns at the same task. Throws `TaskAlreadyRunningError`. */
function readHere(id: string | undefined): { close(): void } {
  if (id === undefined) return { close: () => undefined };
  if (READ_HERE.has(id)) throw new TaskAlreadyRunningError(id);
  READ_HERE.add(id);
  return { close: () => void READ_HERE.delete(id) };
}

async function withEngine<State, Action, T>(
  options: RunAgentTaskOptions<State, Action>,
  work: (engine: OpenEngine) => Promise<T>,
): Promise<T> {
  const engine = await openEngine(options);
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
}

async function startTask<State, Action>(
  { start, name }: OpenEngine,
  { task, scenarioId, userId, ...options }: RunAgentTaskOptions<State, Action>,
): Promise<string> {
  const prompted = toPrompt(options);
  const { id } = await start({
    ...task,
    ...(prompted ? { inputs: { ...task.inputs, ...prompted } } : {}),
    task: name,
    ...(scenarioId === undefined ? {} : { scenarioId }),
    ...(userId === undefined ? {} : { userId }),
  });
  return id;
}

type PromptSettings = Pick<RunAgentTaskOptions, 'input' | 'sessionId' | 'resume'>;

function toPrompt({ input, sessionId, resume }: PromptSettings) {
  if (!input && sessionId === undefined) return undefined;
  const session =
    sessionId === undefined ? {} : { session: { id: sessionId, ...(resume ? { resume } : {}) } };
  return { ...input, ...session };
}

/** Milliseconds that a worker may take to open the task. */
const OPEN_TIMEOUT_MS = 5 * 60_000;

async function* followTask<State, Action>(
  { tasks }: RuntimeClient,
  id: string,
  { signal, after }: RunAgentTaskOptions<State, Action>,
): AsyncGenerator<StreamedEvent> {
  const abort = () => void tasks.abort(id, 'aborted by the caller').catch(() => undefined);
  const behind = after === undefined ? {} : { after };
  if (after !== undefined) signal?.addEventListener('abort', abort, { once: true });
  for await (const { cursor, event } of tasks.events(id, { openWithinMs: OPEN_TIMEOUT_MS, ...behind })) {
    // The task exists now: an abort that came earlier is sent again.
    if (event.type === 'task_start') {
      if (signal?.aborted) abort();
      else signal?.addEventListener('abort', abort, { once: true });
    }
    yield { ...event, cursor };
  }
  signal?.removeEventListener('abort', abort);
}

function notifyListener(onEvent: RunAgentTaskOptions['onEvent'], event: RuntimeStreamEvent): void {
  const told = (async () => onEvent?.(event))();
  // Its listener is not the task's.
  told.catch(() => undefined);
}
