/**
 * The page's Agent over the engine: a worker and a client in this process. A task is a thread of its own under the task's id, which is its
 * execution's too; all that happens is in its log, and what the agent tells is read off it. Rules, approvals and limits are the engine's.
 */
import { keepRun, type RunStore } from '../client/run-store.ts';
import type { StoredRuns } from '../client/stored-runs.ts';
import { RuntimeError } from '../core/value/error.ts';
import {
  defineAgent,
  defineModel,
  definePrompt,
  type ModelInput,
  registryFrom,
} from '../definitions/index.ts';
import { besideResults } from '../models/own-answer.ts';
import type { RunEvent } from '../projections/run/run-event.ts';
import { toRunReport } from '../projections/run/run-report.ts';
import { type Engine, type EngineOptions, openInProcess } from '../worker/in-process.ts';
import {
  type AgentTool,
  HANDLER_TOOL,
  type RunScope,
  type RunTool,
  toHandlerCall,
  toTool,
} from './agent-tool.ts';
import { type ApprovalHandler, readDecision, readRequest } from './approval.ts';
import type { Fields } from './artifact.ts';
import { findDenial, toFailure, toTaskError } from './failure.ts';
import { type Policy, toPolicies } from './policy.ts';
import { RunContext } from './run-context.ts';
import { Task } from './task.ts';

export interface AgentCard {
  readonly name: string;
  readonly description: string;
}

export type LlmDefinition = Omit<ModelInput, 'name' | 'fallbacks'>;

export interface AgentOptions extends EngineOptions {
  /** What is asked, as of `createLlm`, or as in a definition; without it tasks are calls of tools, or the handler's. */
  readonly llm?: LlmDefinition | { readonly definition: LlmDefinition };
  readonly policy?: Policy;
  /** Without it, what needs an approval is refused. */
  readonly approvalHandler?: ApprovalHandler;
  /** Code of one's own that carries out tasks, instead of a model. */
  readonly handler?: (task: Task, scope: RunScope) => unknown;
  /** Given each run once it has ended. */
  readonly runStore?: RunStore;
  /** Told where the run store fails: the run is as it was. */
  readonly onWarning?: (warning: string) => void;
}

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
  readonly #active = new Map<string, Task>();
  #engine: Promise<Engine> | undefined;

  constructor(card: AgentCard, options: AgentOptions = {}) {
    this.card = card;
    this.#options = options;
    const { handler } = options;
    if (handler) this.tool(HANDLER_TOOL, (args, scope) => handler(new Task(args.task as Fields), scope));
  }

  /** Before the first task. */
  tool(tool: AgentTool, run: RunTool): this {
    if (this.#engine)
      throw new RuntimeError('InvalidStart', `The agent works already: "${tool.name}" is too late.`);
    this.#tools[tool.name] = toTool(tool, run);
    return this;
  }

  /** All runs of the store, found and read: the page's run store. */
  get runs(): Promise<StoredRuns> {
    return this.#open().then(({ client }) => client.runs);
  }

  /** Of those that this process listens to. */
  get activeTaskIds(): readonly string[] {
    return [...this.#active.keys()];
  }

  /**
   * Begins a task, and tells all of its run; of a task that has ended already, its last event. Who stops listening stops nothing: `client.events(task.id, { as:
   * 'run' })` goes on. Throws `TaskAlreadyRunningError`, and `InvalidValue` for a task without anything to do.
   */
  async *handleTaskStreaming(task: Task): AsyncGenerator<RunEvent> {
    const { client } = await this.#open();
    const context = RunContext.ensureTaskContext(task, this.card.name);
    const [known] = await client.runs.list({ threadId: task.id, limit: 1 });
    const hasEnded = known?.endedAt != null;
    if (!hasEnded) await this.#begin(task, context);
    this.#active.set(task.id, task);
    const events: RunEvent[] = [];
    try {
      for await (const { event } of client.events(task.id, { as: 'run' })) {
        task.follow(event);
        events.push(event);
        if (!hasEnded || event.final) yield event;
        if (event.type === 'approval.required' && !hasEnded) await this.#decide(event, context);
        if (event.final) return hasEnded ? undefined : await this.#keep(events);
      }
    } finally {
      this.#active.delete(task.id);
    }
  }

  /** The task as it ends; `onEvent` is told all of its run. Throws what has made it fail: `ActionDenied`, `ApprovalRequired`, `BudgetExceeded`, or its error. */
  async executeTask(task: Task, onEvent?: (event: RunEvent) => void): Promise<Task> {
    await this.#carryOut(task, onEvent);
    return task;
  }

  /** As `executeTask`: a handler of one's own is run by the engine, too, and found again by its task's id. */
  async runTask(task: Task): Promise<Task> {
    return this.executeTask(task);
  }

  /** Stops what runs, from any process; the first reason counts. Throws `TaskNotFoundError`, `TaskNotCancelableError`. */
  async cancelTask(id: string, reason?: string): Promise<Task> {
    const { client } = await this.#open();
    const request = { executionId: id, ...(reason === undefined ? {} : { reason }) };
    const { canceled } = await client.cancelExecution(id, request).catch(rethrow);
    return (this.#active.get(id) ?? new Task({ id })).cancel(canceled?.reason ?? undefined);
  }

  /** A call of a tool without a model, by the same rules and approvals. Its result as text. Throws as `executeTask`. */
  async callToolInContext(name: string, context: RunContext, args: Fields = {}): Promise<string> {
    const task = Task.createToolCall({ toolName: name, args });
    context.attachToTask(task);
    const denial = findDenial(await this.#carryOut(task));
    if (denial) throw denial;
    return task.answer;
  }

  /** Ends the thread of a task that is over: nothing more can be said to it. Its record stays. */
  async retireTask(id: string): Promise<void> {
    await (await this.#open()).client.terminate(id);
  }

  async close(): Promise<void> {
    await (await this.#engine)?.close();
  }

  async #carryOut(task: Task, onEvent?: (event: RunEvent) => void): Promise<readonly RunEvent[]> {
    const events: RunEvent[] = [];
    for await (const event of this.handleTaskStreaming(task)) {
      events.push(event);
      onEvent?.(event);
    }
    if (task.state === 'failed') throw toFailure(events);
    return events;
  }

  async #begin(task: Task, { given: context }: RunContext): Promise<void> {
    const { client } = await this.#open();
    const { ask, call } = this.#options.handler ? { call: toHandlerCall(task) } : task.work;
    const messages = ask === undefined ? [] : [{ content: ask, executionId: task.id }];
    await client.startThread({ agent: this.card.name, threadId: task.id, context, messages }).catch(rethrow);
    // A thread's first messages are cancelled with it; a call says so itself.
    const own = context.canceled ? { context } : {};
    if (call) await client.queueTool(task.id, { ...call, ...own, executionId: task.id });
  }

  async #decide(event: RunEvent, context: RunContext): Promise<void> {
    const { approvalHandler } = this.#options;
    if (!approvalHandler) return;
    const request = readRequest(event);
    const decision = readDecision(await approvalHandler(request, context), request);
    await (await this.#open()).client.answerWait(request.request_id, decision);
  }

  async #keep(events: readonly RunEvent[]): Promise<void> {
    const { runStore, onWarning } = this.#options;
    if (runStore) await keepRun(runStore, toRunReport(events)).catch((error) => onWarning?.(String(error)));
  }

  #open(): Promise<Engine> {
    const { taskQueue = `protolink-${this.card.name}` } = this.#options;
    this.#engine ??= openInProcess(this.#registry(), { ...this.#options, taskQueue });
    return this.#engine;
  }

  #registry() {
    const { name, description } = this.card;
    const { llm: given, policy, approvalHandler } = this.#options;
    const llm = given && 'definition' in given ? given.definition : given;
    const { says, policies } = policy ? toPolicies(policy) : { says: undefined, policies: {} };
    // As on the page: a denial is the end of the run.
    const judged = says && { ...says, approvals: approvalHandler ? 'wait' : 'refuse', onDenied: 'fail' };
    return registryFrom({
      agents: [
        defineAgent({ name, sideA: { prompt: 'task' }, ...(judged ? { policy: judged as object } : {}) }),
      ],
      prompts: [
        definePrompt({
          ...{ name: 'task', toolDescription: description, prompt: description, model: 'llm' },
          ...{ includeChat: true, includePastTools: true, tools: Object.keys(this.#tools) },
        }),
      ],
      models: [defineModel({ model: 'result', ...llm, name: 'llm', provider: besideResults(llm?.provider) })],
      tools: this.#tools,
      policies,
    });
  }
}

function rethrow(error: unknown): never {
  throw toTaskError(error);
}
