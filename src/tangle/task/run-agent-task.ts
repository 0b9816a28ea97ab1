/**
 * `runAgentTask` and `runAgentTaskStream`: a task of the engine, started and followed to its end. An adapter that is handed over works in this process; one
 * that is named is a task of `agents/tasks`, which any worker goes on with.
 */
import { randomUUID } from 'node:crypto';
import { RuntimeClient } from '../../client/runtime-client.ts';
import type { AgentAdapter, TaskRunRecord, TaskRuntimeError, TaskSettings } from '../../core/author/task.ts';
import type { ControlEval, TaskEnd, TaskVerdict } from '../../core/task/control.ts';
import {
  type AcquisitionPlan,
  type KnowledgeQuestion,
  type KnowledgeReport,
  reportKnowledge,
  toPlans,
  toQuestions,
} from '../../core/task/knowledge.ts';
import type { AgentTaskSpec } from '../../core/task/spec.ts';
import { defineTask, registryFrom } from '../../definitions/index.ts';
import type { RuntimeStreamEvent } from '../../projections/task/stream-event.ts';
import type { TaskStepRecord } from '../../store/port/task.ts';
import { type EngineOptions, openInProcess } from '../../worker/in-process.ts';

/** What is handed over as an adapter: its functions, and settings beside them. */
export type GivenAdapter<State = unknown, Action = unknown> = AgentAdapter<State, Action> & TaskSettings;

export interface RunAgentTaskOptions<State = unknown, Action = unknown> extends EngineOptions {
  /** Its id made up where it has none. The same id again attaches to the same task, and does not run it twice. */
  readonly task: Omit<AgentTaskSpec, 'id'> & { readonly id?: string };
  /** The name of a task in `agents/tasks`, or an adapter, which lives with this process. */
  readonly adapter: string | GivenAdapter<State, Action>;
  /** Of the engine; one of its own is opened unless given. Needed by no adapter that is handed over. */
  readonly client?: RuntimeClient;
  readonly scenarioId?: string;
  readonly userId?: string;
  /** Aborts the task. */
  readonly signal?: AbortSignal;
  /** Hears each event of the stream; what it throws changes nothing. */
  readonly onEvent?: (event: RuntimeStreamEvent) => void;
}

export interface AgentTaskResult {
  readonly task: AgentTaskSpec;
  readonly status: TaskEnd;
  readonly knowledge: KnowledgeReport;
  /** What is missing still. */
  readonly questions: readonly KnowledgeQuestion[];
  readonly acquisitionPlans: readonly AcquisitionPlan[];
  /** By requirement. */
  readonly userAnswers: Readonly<Record<string, unknown>>;
  readonly acquiredEvidenceIds: readonly string[];
  readonly control: TaskVerdict & {
    readonly runId: string;
    readonly intent: string;
    readonly completed: boolean;
    /** The first 1,000; `client.tasks.listSteps` has the others. */
    readonly steps: readonly TaskStepRecord[];
    readonly finalState: unknown;
    readonly finalEvals: readonly ControlEval[];
    readonly wallMs: number;
    readonly spentCostUsd: number;
    readonly runtimeErrors: readonly TaskRuntimeError[];
  };
  readonly runRecords: readonly TaskRunRecord[];
}

/**
 * Runs a task to its end, however long it waits for people. Rejects as `client.tasks.start` does.
 * @example
 * ```ts
 * const { status, control } = await runAgentTask({
 *   task: { intent: 'count-to-one' },
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
  return withEngine(options, async (client, name) => {
    const id = await start(client, name, options);
    for await (const event of follow(client, id, options)) hear(options.onEvent, event);
    return readResult(client, id);
  });
}

/** The same as it progresses: ends with `final`. Whoever leaves the loop early leaves the task as it is, unless its adapter lives here. */
export async function* runAgentTaskStream<State = unknown, Action = unknown>(
  options: RunAgentTaskOptions<State, Action>,
): AsyncGenerator<RuntimeStreamEvent> {
  const engine = await openEngine(options);
  try {
    const id = await start(engine.client, engine.name, options);
    for await (const event of follow(engine.client, id, options)) {
      hear(options.onEvent, event);
      yield event;
    }
  } finally {
    await engine.close();
  }
}

interface OpenEngine {
  readonly client: RuntimeClient;
  /** Of the task. */
  readonly name: string;
  close(): Promise<void>;
}

/** Under this name an adapter that was handed over is registered. */
const HANDED = 'handed_over';

async function openEngine<State, Action>(options: RunAgentTaskOptions<State, Action>): Promise<OpenEngine> {
  const { adapter, client } = options;
  const { store, taskQueue, projectDir, workflowBundle } = options;
  if (typeof adapter === 'string') {
    if (client) return { client, name: adapter, close: async () => undefined };
    const shared = {
      ...(store && { store }),
      ...(taskQueue && { taskQueue }),
      ...(projectDir && { projectDir }),
    };
    const own = await RuntimeClient.connect(shared);
    return { client: own, name: adapter, close: () => own.close() };
  }
  const registry = registryFrom({ tasks: { [HANDED]: defineTask(adapter) } });
  const engine = await openInProcess(registry, {
    // Nobody else has this adapter.
    taskQueue: taskQueue ?? `tangle-${randomUUID()}`,
    ...(store && { store }),
    ...(projectDir && { projectDir }),
    ...(workflowBundle && { workflowBundle }),
  });
  return { client: engine.client, name: HANDED, close: () => engine.close() };
}

async function withEngine<State, Action, T>(
  options: RunAgentTaskOptions<State, Action>,
  work: (client: RuntimeClient, name: string) => Promise<T>,
): Promise<T> {
  const engine = await openEngine(options);
  try {
    return await work(engine.client, engine.name);
  } finally {
    await engine.close();
  }
}

async function start<State, Action>(
  { tasks }: RuntimeClient,
  name: string,
  { task, scenarioId, userId }: RunAgentTaskOptions<State, Action>,
): Promise<string> {
  const { id } = await tasks.start({
    ...task,
    task: name,
    ...(scenarioId === undefined ? {} : { scenarioId }),
    ...(userId === undefined ? {} : { userId }),
  });
  return id;
}

/** As long as a worker may take to open it. */
const OPENING_MS = 5 * 60_000;

async function* follow<State, Action>(
  { tasks }: RuntimeClient,
  id: string,
  { signal }: RunAgentTaskOptions<State, Action>,
): AsyncGenerator<RuntimeStreamEvent> {
  const abort = () => void tasks.abort(id, 'aborted by its caller').catch(() => undefined);
  for await (const { event } of tasks.events(id, { openWithinMs: OPENING_MS })) {
    // The task is there now: an abort that came before is told again.
    if (event.type === 'task_start') {
      if (signal?.aborted) abort();
      else signal?.addEventListener('abort', abort, { once: true });
    }
    yield event;
  }
  signal?.removeEventListener('abort', abort);
}

function hear(onEvent: RunAgentTaskOptions['onEvent'], event: RuntimeStreamEvent): void {
  try {
    onEvent?.(event);
  } catch {
    // Its listener is not the task's.
  }
}

const MOST_STEPS = 1000;

async function readResult({ tasks }: RuntimeClient, id: string): Promise<AgentTaskResult> {
  const record = await tasks.get(id);
  const { verdict, spec, requirements, answers, status } = record;
  if (!verdict || status === 'running' || status === 'waiting')
    throw new Error(`The task "${id}" has not ended.`);
  const steps = await tasks.listSteps(id, 0, MOST_STEPS);
  const [last] = await tasks.listSteps(id, record.steps, 1);
  const knowledge = reportKnowledge(requirements, Date.now());
  return {
    task: spec,
    status,
    knowledge,
    questions: toQuestions(knowledge),
    acquisitionPlans: toPlans(knowledge),
    userAnswers: answers,
    acquiredEvidenceIds: [...new Set(requirements.flatMap(({ evidenceIds }) => evidenceIds))],
    control: {
      ...verdict,
      runId: id,
      intent: spec.intent,
      completed: status === 'completed',
      steps,
      finalState: (last ?? steps.at(-1))?.state ?? null,
      finalEvals: (last ?? steps.at(-1))?.evals ?? [],
      wallMs: record.wallMs,
      spentCostUsd: record.spentCostUsd,
      runtimeErrors: record.errors,
    },
    runRecords: record.records ?? [],
  };
}
