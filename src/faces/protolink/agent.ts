/**
 * Protolink's Agent on top of the engine: a worker and a client in this process. A task is a separate thread with one
 * execution, both under the task's id; everything that happens is in its log, and the events of the agent are read off
 * it. Rules, approvals and limits are handled by the engine.
 */
import { once } from 'node:events';
import { beginExecution } from '../../client/named-execution.ts';
import { type RunStore, saveRun } from '../../client/run-store.ts';
import type { StoredRuns } from '../../client/stored-runs.ts';
import type { BudgetLine } from '../../core/governance/budget-line.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { errorMessage } from '../../core/value/thrown.ts';
import type { RunEvent } from '../../projections/run/run-event.ts';
import { toRunReport } from '../../projections/run/run-report.ts';
import { type Engine, type EngineOptions, openInProcess } from '../../worker/in-process.ts';
import { checkNames, ENGINE_OPTIONS, type Names } from '../known-names.ts';
import {
  type AgentTool,
  HANDLER_TOOL,
  type RunScope,
  type RunTool,
  toHandlerCall,
  toHandlerRun,
  toTool,
} from './agent-tool.ts';
import { type ApprovalHandler, type ApprovalRequest, readDecision, readRequest } from './approval.ts';
import type { Fields } from './artifact.ts';
import type { BudgetPolicy } from './budget-policy.ts';
import { CancellationToken } from './cancellation-token.ts';
import { type AgentParts, type LlmDefinition, registryOf } from './definitions.ts';
import { alreadyRunning, toCancelError, toFailure, toTaskError } from './failure.ts';
import { forgetAgent, rememberAgent } from './local-agents.ts';
import { CapabilityPolicy, type Policy } from './policy.ts';
import { RunContext } from './run-context.ts';
import { Task } from './task.ts';

export interface AgentCard {
  readonly name: string;
  readonly description: string;
  /** With `runtime://`, the address under which an AgentClient of this process reaches it. Others are not read here. */
  readonly url?: string;
}

const CARD_FIELDS: Names<AgentCard> = { name: true, description: true, url: true };

export interface AgentOptions extends EngineOptions {
  /**
   * The model, made by `createLlm` or given as a definition; without one, tasks are tool calls, or are carried out by
   * the handler.
   */
  readonly llm?: LlmDefinition | { readonly definition: LlmDefinition };
  readonly policy?: Policy;
  /**
   * Agents that its model may call by their names, each with its own model, tools and policy: their runs are children
   * of its own. Approvals are asked of this agent's handler.
   */
  readonly delegates?: readonly Agent[];
  /** Judges what a run spends, in addition to the limits of its context. */
  readonly budgetPolicy?: BudgetPolicy;
  /** Without a handler, actions that need an approval are refused. */
  readonly approvalHandler?: ApprovalHandler;
  /** Carries out tasks instead of a model. */
  readonly handler?: (task: Task, scope: RunScope) => unknown;
  /** Receives each run once it has ended. */
  readonly runStore?: RunStore;
  /** Called if the run store fails, which does not affect the run. */
  readonly onWarning?: (warning: string) => void;
}

const AGENT_OPTIONS: Names<AgentOptions> = {
  ...ENGINE_OPTIONS,
  llm: true,
  policy: true,
  delegates: true,
  budgetPolicy: true,
  approvalHandler: true,
  handler: true,
  runStore: true,
  onWarning: true,
};

/**
 * @example
 * ```ts
 * const agent = new Agent({ name: 'worker', description: 'Worker' }, { policy: new CapabilityPolicy({ 'records.*': 'deny' }) });
 * agent.tool({ name: 'look', description: 'Looks', capabilities: ['records.read'] }, () => 'seen');
 * for await (const { type, summary } of agent.handleTaskStreaming(Task.createToolCall({ toolName: 'look' }))) console.log(type, summary);
 * await agent.close();
 * ```
 */
export class Agent {
  readonly card: AgentCard;
  readonly #options: AgentOptions;
  readonly #tools: Record<string, ReturnType<typeof toTool>> = {};
  readonly #read = new Set<string>();
  readonly #active = new Map<string, Task>();
  readonly #tokens = new Map<string, CancellationToken>();
  #engine: Promise<Engine> | undefined;

  /** Throws `InvalidValue` for an unknown field of the card, and for an unknown option. */
  constructor(card: AgentCard, options: AgentOptions = {}) {
    checkNames('The card of an agent', 'field', card, CARD_FIELDS);
    checkNames('An agent', 'option', options, AGENT_OPTIONS);
    this.card = card;
    this.#options = options;
    const { handler } = options;
    rememberAgent(card.url, this);
    if (handler) this.tool(HANDLER_TOOL, toHandlerRun(handler));
  }

  /** Adds a tool; only allowed before the first task. Throws `InvalidValue` for an unknown field. */
  tool(tool: AgentTool, run: RunTool): this {
    if (this.#engine)
      throw new RuntimeError(
        'InvalidStart',
        `The agent has started: add the tool "${tool.name}" before its first task.`,
      );
    this.#tools[tool.name] = toTool(tool, (args, scope) =>
      this.#withToken(scope, async () => run(args, scope)),
    );
    return this;
  }

  /** The token of a task that runs here, for code that has no scope; undefined for any other task. */
  getCancellationToken(id: string): CancellationToken | undefined {
    return this.#tokens.get(id);
  }

  async #withToken<Result>({ taskId, signal }: RunScope, run: () => Promise<Result>): Promise<Result> {
    const token = this.#tokens.get(taskId) ?? new CancellationToken();
    this.#tokens.set(taskId, token);
    const cancel = () => token.cancel(errorMessage(signal.reason));
    signal.addEventListener('abort', cancel);
    try {
      return await run();
    } catch (error) {
      // Its token tells of a cancellation before its signal does: thrown now, its error would be a failure.
      const isCanceled = this.#active.get(taskId)?.state === 'canceled';
      if (isCanceled && !signal.aborted) await once(signal, 'abort');
      throw error;
    } finally {
      signal.removeEventListener('abort', cancel);
      if (!this.#read.has(taskId)) this.#tokens.delete(taskId);
    }
  }

  /** All runs of the store: the equivalent of Protolink's run store. */
  get runs(): Promise<StoredRuns> {
    return this.#open().then(({ client }) => client.runs);
  }

  /** Ids of the tasks that run and are read by this agent: from their first event to their last one. */
  get activeTaskIds(): readonly string[] {
    return [...this.#active.keys()];
  }

  /**
   * Begins a task, or takes it up if it has begun under its id, in whatever process; yields all events of its run, and
   * for a task that has ended only its last event. The task continues if the reader stops. Throws
   * `TaskAlreadyRunningError` while this agent reads the task, `ExecutionConflict` if its id belongs to other work, and
   * `InvalidValue` for a task without anything to do.
   */
  handleTaskStreaming(task: Task): AsyncGenerator<RunEvent> {
    return this.#follow(task, []);
  }

  /**
   * Runs a task and returns it once it has ended; `onEvent` receives all events of its run. Throws what made it fail:
   * `ActionDenied`, `ApprovalRequired`, `BudgetExceeded`, or its error.
   */
  async executeTask(task: Task, onEvent?: (event: RunEvent) => void): Promise<Task> {
    const events: RunEvent[] = [];
    for await (const event of this.#follow(task, events)) onEvent?.(event);
    if (task.state === 'failed') throw toFailure(events);
    return task;
  }

  /** Does the same as `executeTask`: tasks of a handler are also run by the engine, and found again by their ids. */
  async runTask(task: Task): Promise<Task> {
    return this.executeTask(task);
  }

  /**
   * Cancels a running task, from any process; the first reason counts. Throws `TaskNotFoundError`, also once the task has
   * ended, and `TaskNotCancelableError` while its end is being read here.
   */
  async cancelTask(id: string, reason?: string): Promise<Task> {
    const isActive = this.#active.has(id);
    const { client } = await this.#open();
    const request = { executionId: id, ...(reason === undefined ? {} : { reason }) };
    const { context } = await client.cancelExecution(id, request).catch((error) => {
      throw toCancelError(error, isActive);
    });
    const task = this.#active.get(id) ?? new Task({ id });
    RunContext.of(context).attachToTask(task);
    this.#tokens.get(id)?.cancel(context.cancelReason);
    return task.cancel(context.cancelReason ?? undefined);
  }

  /**
   * Calls a tool without a model, by the same rules and approvals; returns the result as text. Throws as `executeTask`.
   */
  async callToolInContext(name: string, context: RunContext, args: Fields = {}): Promise<string> {
    const task = Task.createToolCall({ toolName: name, args });
    context.attachToTask(task);
    return (await this.executeTask(task)).answer;
  }

  /**
   * Limits of a task's run, and how much of each is used: while it runs, and after its end. The engine counts and enforces
   * them. Throws `TaskNotFoundError`.
   */
  async getBudget(id: string): Promise<readonly BudgetLine[]> {
    return (await this.#open()).client.getBudget(id).catch(throwTaskError);
  }

  /** Terminates the thread of a task that has ended: it accepts no more messages. Its record stays. */
  async retireTask(id: string): Promise<void> {
    await (await this.#open()).client.terminate(id);
  }

  async close(): Promise<void> {
    forgetAgent(this.card.url, this);
    await (await this.#engine)?.close();
  }

  /** `events` receives all events of the run, also of one that has ended. */
  async *#follow(task: Task, events: RunEvent[]): AsyncGenerator<RunEvent> {
    if (this.#read.has(task.id)) throw alreadyRunning(task.id);
    this.#read.add(task.id);
    try {
      const { client } = await this.#open();
      const context = RunContext.ensureTaskContext(task, this.card.name);
      const [known] = await client.runs.list({ threadId: task.id, limit: 1 });
      const hasEnded = known?.endedAt != null;
      await this.#begin(task, context);
      for await (const { event } of client.events(task.id, { as: 'run' })) {
        // From its first event on, it can be cancelled.
        if (!hasEnded) this.#activate(task);
        task.follow(event);
        events.push(event);
        if (!hasEnded || event.final) yield event;
        if (event.type === 'approval.required' && !hasEnded) await this.#answerApproval(event, context);
        if (event.final) return hasEnded ? undefined : await this.#storeRun(events);
      }
    } finally {
      this.#active.delete(task.id);
      this.#tokens.delete(task.id);
      this.#read.delete(task.id);
    }
  }

  #activate(task: Task): void {
    this.#active.set(task.id, task);
    if (!this.#tokens.has(task.id)) this.#tokens.set(task.id, new CancellationToken());
  }

  async #begin(task: Task, { given: standing }: RunContext): Promise<void> {
    const { client } = await this.#open();
    const { canceled, cancelReason } = standing;
    await beginExecution(client, {
      agent: this.card.name,
      executionId: task.id,
      threadId: task.id,
      standing,
      content: this.#options.handler ? toHandlerCall(task) : task.work,
      ...(canceled ? { context: { canceled, cancelReason } } : {}),
    }).catch(throwTaskError);
  }

  async #answerApproval(event: RunEvent, context: RunContext): Promise<void> {
    const { approvalHandler } = this.#options;
    if (!approvalHandler) return;
    const { client } = await this.#open();
    const { request_id } = event.payload.request as ApprovalRequest;
    const wait = await client.getWait(request_id);
    // It was answered before this process has taken the task up.
    if (wait.state !== 'open') return;
    const request = readRequest(event, wait);
    const decision = readDecision(await approvalHandler(request, context), request);
    await client.answerWait(request.request_id, decision);
  }

  async #storeRun(events: readonly RunEvent[]): Promise<void> {
    const { runStore, onWarning } = this.#options;
    const warn = (error: unknown) =>
      onWarning?.(error instanceof Error ? String(error) : errorMessage(error));
    if (runStore) await saveRun(runStore, toRunReport(events)).catch(warn);
  }

  #open(): Promise<Engine> {
    const { taskQueue = `protolink-${this.card.name}` } = this.#options;
    const { delegates = [], approvalHandler } = this.#options;
    const [own, ...others] = [this, ...delegates].map((each) => each.#parts(approvalHandler !== undefined));
    this.#engine ??= openInProcess(registryOf(own as AgentParts, others), { ...this.#options, taskQueue });
    return this.#engine;
  }

  #parts(asks: boolean): AgentParts {
    const { llm: given, policy = new CapabilityPolicy(), budgetPolicy } = this.#options;
    const llm = given && 'definition' in given ? given.definition : given;
    const { name, description } = this.card;
    return { name, description, llm, policy, budgetPolicy, asks, tools: this.#tools };
  }
}

function throwTaskError(error: unknown): never {
  throw toTaskError(error);
}
