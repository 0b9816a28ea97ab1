/**
 * The page's Agent over the engine: a worker and a client in this process. A task is a thread of its own, under the task's id; all that happens
 * is in its log, and what the agent tells is read off it. It decides nothing: rules, approvals and limits are the engine's.
 */
import { RuntimeError } from '../core/value/error.ts';
import {
  defineAgent,
  defineModel,
  definePrompt,
  type ModelInput,
  registryFrom,
} from '../definitions/index.ts';
import type { RunEvent } from '../projections/run/run-event.ts';
import { type AgentTool, HANDLER, HANDLER_TOOL, type RunScope, type RunTool, toTool } from './agent-tool.ts';
import {
  type ApprovalHandler,
  type CapabilityPolicy,
  findDenial,
  readDecision,
  readRequest,
  toFailure,
} from './approval.ts';
import type { Fields, Part } from './artifact.ts';
import { type Engine, type EngineOptions, openEngine } from './engine.ts';
import { besideOwn } from './own-model.ts';
import { RunContext } from './run-context.ts';
import { RunRecorder } from './run-recorder.ts';
import { keepRun, type RunStore } from './run-store.ts';
import { Task } from './task.ts';

export interface AgentCard {
  readonly name: string;
  readonly description: string;
}

export interface AgentOptions extends EngineOptions {
  /** What is asked; without it tasks are calls of tools, or the handler's. */
  readonly llm?: Pick<ModelInput, 'provider' | 'model'>;
  readonly policy?: CapabilityPolicy;
  /** Without it, what needs an approval is refused. */
  readonly approvalHandler?: ApprovalHandler;
  /** Code of one's own that carries out tasks, instead of a model. */
  readonly handler?: (task: Task, scope: RunScope) => unknown;
  readonly runStore?: RunStore;
  /** Told where the run store fails: the run is as it was. */
  readonly onWarning?: (warning: string) => void;
}

const isInfer = (part: Part): part is Part & { readonly content: { readonly prompt: string } } =>
  part.type === 'infer';
const isCall = (
  part: Part,
): part is Part & { readonly content: { readonly tool_name: string; readonly args: Fields } } =>
  part.type === 'tool_call';

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
    if (!handler) return;
    this.tool(HANDLER_TOOL, (args, scope) => handler(new Task(args.task as Fields), scope));
  }

  /** Before the first task. */
  tool(tool: AgentTool, run: RunTool): this {
    if (this.#engine)
      throw new RuntimeError('InvalidStart', `The agent works already: "${tool.name}" is too late.`);
    this.#tools[tool.name] = toTool(tool, run);
    return this;
  }

  get activeTaskIds(): readonly string[] {
    return [...this.#active.keys()];
  }

  /** Begins a task, and tells all of its run. Who stops listening stops nothing: `client.events(task.id, { as: 'run' })` goes on. */
  async *handleTaskStreaming(task: Task): AsyncGenerator<RunEvent> {
    const { client } = await this.#open();
    const context = RunContext.ensureTaskContext(task, this.card.name);
    const { handler, runStore, onWarning } = this.#options;
    const parts: readonly Part[] = handler
      ? [{ type: 'tool_call', content: { tool_name: HANDLER, args: { task: task.toDict() } } }]
      : (task.messages.at(-1)?.parts ?? []);
    await client.startThread({
      agent: this.card.name,
      threadId: task.id,
      context: context.given,
      messages: parts.filter(isInfer).map(({ content }) => ({ content: content.prompt })),
    });
    this.#active.set(task.id, task);
    try {
      for (const { content } of parts.filter(isCall))
        await client.queueTool(task.id, { name: content.tool_name, arguments: content.args });
      const recorder = new RunRecorder();
      for await (const { event } of client.events(task.id, { as: 'run' })) {
        const told = { ...event, task_id: task.id };
        task.follow(told);
        recorder.emit(told);
        yield told;
        if (told.type === 'approval.required') await this.#decide(told, context);
        if (!told.final) continue;
        if (runStore)
          await keepRun(runStore, task, recorder.toReport()).catch((error) => onWarning?.(String(error)));
        return;
      }
    } finally {
      this.#active.delete(task.id);
    }
  }

  /** The task as it ends. Throws what has made it fail: `ActionDenied`, `ApprovalRequired`, `BudgetExceeded`, or its error. */
  async executeTask(task: Task): Promise<Task> {
    await this.#carryOut(task);
    return task;
  }

  /** As `executeTask`: a handler of one's own is run by the engine, too, and found again by its task's id. */
  async runTask(task: Task): Promise<Task> {
    return this.executeTask(task);
  }

  /** Stops what runs, from any process. The task, canceled. Throws `ExecutionNotFound`, also where it has ended. */
  async cancelTask(id: string, reason?: string): Promise<Task> {
    const { client } = await this.#open();
    const [run] = await client.runs.list({ threadId: id, limit: 1 });
    if (!run || run.endedAt !== null) {
      const why = run ? `has ended: it is ${run.state}` : 'is not there';
      throw new RuntimeError('ExecutionNotFound', `Task "${id}" cannot be canceled: it ${why}.`);
    }
    await client.stop(id, reason);
    return (this.#active.get(id) ?? new Task({ id })).cancel(reason);
  }

  /** A call of a tool without a model, by the same rules and approvals. Its result as text. Throws `ActionDenied`, `ApprovalRequired`. */
  async callToolInContext(name: string, context: RunContext, args: Fields = {}): Promise<string> {
    const task = Task.createToolCall({ toolName: name, args });
    context.attachToTask(task);
    const events = await this.#carryOut(task);
    const denial = findDenial(events);
    if (denial) throw denial;
    return String(task.artifacts.at(-1)?.parts[0]?.content ?? '');
  }

  async close(): Promise<void> {
    await (await this.#engine)?.close();
  }

  async #carryOut(task: Task): Promise<readonly RunEvent[]> {
    const events: RunEvent[] = [];
    for await (const event of this.handleTaskStreaming(task)) events.push(event);
    if (task.state === 'failed') throw toFailure(events);
    return events;
  }

  async #decide(event: RunEvent, context: RunContext): Promise<void> {
    const { approvalHandler } = this.#options;
    if (!approvalHandler) return;
    const request = readRequest(event);
    const decision = readDecision(await approvalHandler(request, context), request);
    const { client } = await this.#open();
    await client.answerWait(request.requestId, decision);
  }

  #open(): Promise<Engine> {
    this.#engine ??= openEngine(this.card.name, this.#registry(), this.#options);
    return this.#engine;
  }

  #registry() {
    const { name, description } = this.card;
    const { llm, policy, approvalHandler } = this.#options;
    const { rules, default: fallback, undeclared } = policy ?? {};
    const judged = policy && {
      rules,
      default: fallback,
      undeclared,
      approvals: approvalHandler ? 'wait' : 'refuse',
      // As on the page: a denial is the end of the run.
      onDenied: 'fail',
    };
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
      models: [
        defineModel({ name: 'llm', provider: besideOwn(llm?.provider), model: llm?.model ?? 'result' }),
      ],
      tools: this.#tools,
    });
  }
}
