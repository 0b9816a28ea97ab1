/**
 * AgenticX's AgentExecutor on top of the engine: a task is a thread and one execution of it, both under the task's id.
 * Its event log and its statistics are derived from the events of its turn. Only the guide rails over its output are
 * not the engine's.
 */
import type { RuntimeClient } from '../../client/runtime-client.ts';
import {
  type ConfirmContext,
  isTerminal,
  type RuntimeEvent,
} from '../../projections/agenticx/agenticx-event.ts';
import { type Engine, openInProcess } from '../../worker/in-process.ts';
import { checkNames } from '../known-names.ts';
import type { Agent, Task } from './agent-model.ts';
import { readTask } from './default-id.ts';
import { type ExecutorEvent, type ExecutorStats, HUMAN_TOOL_NAME, toLogged, toStats } from './event-log.ts';
import { GateAnswers } from './gate-answers.ts';
import { judgeOutput } from './guide-rail.ts';
import { type BatchCall, type BatchOptions, type BatchOutcome, callAll } from './parallel-calls.ts';
import { EXECUTOR_OPTIONS, type ExecutorOptions, taskProject } from './task-project.ts';
import { beginTurn } from './turn.ts';

/** The result of a task. JSON, with AgenticX's names. */
export interface ExecutorResult {
  /** True only if the task was finished and its output has passed the guide rails. */
  readonly success: boolean;
  readonly result?: string;
  readonly error?: string;
  /** Open waits: once they are answered, running the same task again continues it. */
  readonly waiting_for?: readonly { readonly request_id: string; readonly question: string }[];
  readonly event_log: readonly ExecutorEvent[];
  readonly stats: ExecutorStats;
}

export interface ExecutorWork {
  readonly agent: Agent;
  readonly task: Task;
}

/**
 * @example
 * ```ts
 * const { provider } = scriptedModel([says('A short report.')]);
 * const executor = new AgentExecutor({ llmProvider: { provider, model: 'scripted' } });
 * const agent = new Agent({ name: 'analyst', role: 'Analyst', goal: 'Summarize findings' });
 * const task = new Task({ description: 'Research topic X', expectedOutput: 'Short report' });
 * const { success, result } = await executor.run({ agent, task });
 * await executor.close();
 * ```
 */
export class AgentExecutor {
  readonly #options: ExecutorOptions;
  readonly #engines = new Map<Agent, Promise<Engine>>();

  /** Throws `InvalidValue` for an unknown option. */
  constructor(options: ExecutorOptions = {}) {
    checkNames('An AgentExecutor', 'option', options, EXECUTOR_OPTIONS);
    this.#options = options;
  }

  /**
   * Resolves once the task is over, or waits for a person. After an answer (`respond`, the gate,
   * `everthread waits answer`), running the same task again continues it, in any process that has its agent. Throws
   * `ExecutionConflict` if its id belongs to another task, `InvalidDefinitions` if the agent cannot be defined, and
   * `InvalidValue` if it has no model.
   */
  async run({ agent, task }: ExecutorWork): Promise<ExecutorResult> {
    const { client } = await this.#open(agent);
    const { confirmGate } = this.#options;
    const context = { organizationId: agent.organizationId, metadata: { agent_id: agent.id } };
    const reading = await readTask(client, agent, task);
    const { id, tag } = reading;
    const turn = { agent: agent.name, session: id, input: task.prompt, id, tag, context };
    const answers = confirmGate && new GateAnswers(confirmGate, client);
    const emitted: RuntimeEvent[] = [];
    const open = new Map<string, string>();
    try {
      await beginTurn(client, turn);
      // Not under the agent's id, by which its pauses would be those of a subagent: here they are questions.
      const listening = { as: 'agenticx', run: id } as const;
      for await (const { event } of client.events(id, listening)) {
        emitted.push(event);
        const isAsked = event.type === 'confirm_required' && isConfirm(event.data.context);
        if (isAsked || event.type === 'confirm_response') await answers?.follow(event);
        if (event.type === 'confirm_response') open.delete(event.data.id);
        // If it was answered in the meantime, the next event says so, and no person is needed.
        if (event.type !== 'confirm_required' || (isAsked && answers)) continue;
        if ((await client.getWait(event.data.id)).state !== 'open') continue;
        open.set(event.data.id, event.data.question);
        break;
      }
    } finally {
      answers?.close();
      reading.close();
    }
    return this.#finish(client, { agent, task, id, told: emitted, open });
  }

  /**
   * Answers a question that a model has asked with `human_request`, or helps a task whose calls have failed: its model
   * reads the answer. Throws `WaitNotFound`.
   */
  async respond(agent: Agent, requestId: string, answer: string): Promise<void> {
    const { client } = await this.#open(agent);
    const { kind, threadId } = await client.getWait(requestId);
    const isHelp = kind === 'paused';
    // Queued before the task resumes, so that the next step reads it.
    if (isHelp) await client.queueMessage(threadId, { id: requestId, content: answer });
    await client.answerWait(requestId, isHelp ? { approved: true } : { value: answer });
  }

  /**
   * Calls tools of the agent without a model, several at once. Outcomes come in the order of the calls. Throws
   * `ExecutionConflict` if the id of the batch belongs to other calls.
   */
  async executeParallelToolCalls(
    agent: Agent,
    calls: readonly BatchCall[],
    options: BatchOptions = {},
  ): Promise<readonly BatchOutcome[]> {
    return callAll((await this.#open(agent)).client, { agent: agent.name, calls, ...options });
  }

  /** Closes the executor; its workers hand over what they were doing. */
  async close(): Promise<void> {
    for (const engine of this.#engines.values()) await (await engine).close();
    this.#engines.clear();
  }

  async #finish(
    client: RuntimeClient,
    {
      agent,
      task,
      id,
      told,
      open,
    }: ExecutorWork & {
      readonly id: string;
      readonly told: readonly RuntimeEvent[];
      readonly open: Map<string, string>;
    },
  ): Promise<ExecutorResult> {
    const { metrics } = await client.runs.report(id, { threadId: id });
    const log: ExecutorEvent[] = [
      { type: 'task_start', task_id: id, agent_id: agent.id },
      ...told.flatMap(toLogged),
    ];
    if (open.size > 0) {
      const waiting_for = [...open].map(([request_id, question]) => ({ request_id, question }));
      const error = 'The task is waiting for a person.';
      return {
        success: false,
        error,
        waiting_for,
        event_log: log,
        stats: toStats(log, 'waiting_for_human', metrics),
      };
    }
    const came = await judgeTask(agent, task, { log, last: told.findLast(isTerminal) });
    if ('error' in came && came.rail)
      log.push({ type: 'error', error_type: 'guiderails_abort', message: came.error, recoverable: false });
    const success = 'result' in came;
    log.push({ type: 'task_end', success });
    const ending = success ? { result: came.result } : { error: came.error };
    return {
      success,
      ...ending,
      event_log: log,
      stats: toStats(log, success ? 'completed' : 'failed', metrics),
    };
  }

  #open(agent: Agent): Promise<Engine> {
    const known = this.#engines.get(agent);
    if (known) return known;
    const { taskQueue = `agenticx-task-${agent.name}` } = this.#options;
    const engine = openInProcess(taskProject(agent, this.#options), { ...this.#options, taskQueue });
    this.#engines.set(agent, engine);
    return engine;
  }
}

/** Returns the result of the task, or its error and whether a guide rail has caused that. */
async function judgeTask(
  { guiderails, guiderailsConfig }: Agent,
  { context }: Task,
  { log, last }: { readonly log: readonly ExecutorEvent[]; readonly last: RuntimeEvent | undefined },
): Promise<{ readonly result: string } | { readonly error: string; readonly rail: boolean }> {
  if (last?.type !== 'final')
    return {
      error: last?.type === 'error' ? last.data.text : 'The task ended without a result.',
      rail: false,
    };
  const finish = log.findLast((event) => event.type === 'finish_task');
  const output = finish?.final_result ?? last.data.text;
  const judged = await judgeOutput(output, guiderails, { ...guiderailsConfig, context });
  return 'aborted' in judged ? { error: judged.aborted, rail: true } : { result: judged.output };
}

/** True if a gate can answer it; everything else needs a text. */
const isConfirm = ({ kind, tool }: ConfirmContext) => kind !== 'paused' && tool !== HUMAN_TOOL_NAME;
