/**
 * The page's AgentRuntime over the engine: a worker and a client in this process. A session is a thread, a turn one of its executions, and its
 * events are read off the log. Rounds, loops, summaries, timeouts and confirmations are the engine's.
 */
import { randomUUID } from 'node:crypto';
import {
  defineAgent,
  defineModel,
  definePrompt,
  type GuardsInput,
  type ModelInput,
  registryFrom,
} from '../definitions/index.ts';
import type { RuntimeEvent } from '../projections/agenticx/agenticx-event.ts';
import { type Engine, type EngineOptions, openInProcess } from '../worker/in-process.ts';
import type { ConfirmGate } from './confirm-gate.ts';
import { GateAnswers } from './gate-answers.ts';
import { type Environment, toTimeouts } from './runtime-setting.ts';
import { type RuntimeTools, toTools } from './runtime-tool.ts';
import { beginTurn, watchStop } from './turn.ts';

export type LlmDefinition = Omit<ModelInput, 'name' | 'fallbacks'>;

export interface AgentRuntimeOptions extends EngineOptions {
  /** Of the agent, and of its queue: a process with the same name, tools and store goes on with its turns. Default `agent`. */
  readonly name?: string;
  readonly systemPrompt?: string;
  readonly tools?: RuntimeTools;
  /** Whose sessions it makes and goes on with: a session of another one is not found. None unless given. */
  readonly organizationId?: string;
  /** Rounds that a turn may take; below 10 or above 120 it is moved there. Default 10; `maxToolRoundsOf()` is the page's server's. */
  readonly maxToolRounds?: number;
  /** Calls in a loop that remind the model, and that end the turn. Default 4 and 8. */
  readonly loopWarningThreshold?: number;
  readonly loopCriticalThreshold?: number;
  /** When older messages give place to a summary in requests: the page's thresholds unless given; `false`: never. */
  readonly compactor?: GuardsInput['compaction'];
  /** Where the `AGX_LLM_…` times are read; `process.env` unless given. */
  readonly environment?: Environment;
}

export interface TurnOptions {
  /** Stamped on every event; default `meta`. */
  readonly agentId?: string;
  /** Asked every 100 ms while the turn is listened to; what it throws means no. */
  readonly shouldStop?: () => boolean | Promise<boolean>;
  /** Of the execution; made unless given. The same turn again attaches to it: nothing is said twice. */
  readonly turnId?: string;
}

/**
 * @example
 * ```ts
 * const { provider } = scriptedModel([says('Hello!')]);
 * const runtime = new AgentRuntime({ provider, model: 'scripted' }, new AutoApproveConfirmGate());
 * for await (const { type, data } of runtime.runTurn('Say hello.', 'session-1')) console.log(type, data);
 * await runtime.close();
 * ```
 */
export class AgentRuntime {
  readonly #llm: LlmDefinition;
  readonly #gate: ConfirmGate;
  readonly #options: AgentRuntimeOptions;
  #engine: Promise<Engine> | undefined;

  /** Throws `InvalidDefinitions` with its first turn, for what no definition can say. */
  constructor(llm: LlmDefinition, confirmGate: ConfirmGate, options: AgentRuntimeOptions = {}) {
    this.#llm = llm;
    this.#gate = confirmGate;
    this.#options = options;
  }

  /**
   * Says it in a session, a thread's id, and tells all of the turn: its last event is the one terminal one. Turns of a session come one after the other. Who
   * stops listening stops nothing. Throws `ThreadTerminated`, `ExecutionConflict` for another turn's id, and what a message is refused with.
   */
  async *runTurn(
    userInput: string,
    session: string,
    options: TurnOptions = {},
  ): AsyncGenerator<RuntimeEvent, void> {
    const { agentId = 'meta', shouldStop, turnId: id = randomUUID() } = options;
    const { client } = await this.#open();
    const { organizationId } = this.#options;
    const context = organizationId === undefined ? {} : { context: { organizationId } };
    const turn = { agent: this.#name, session, input: userInput, id, ...context };
    const stopWatching = watchStop(client, turn, shouldStop);
    const answers = new GateAnswers(this.#gate, client);
    try {
      await beginTurn(client, turn);
      for await (const { event } of client.events(session, { as: 'agenticx', run: id, agentId })) {
        answers.follow(event);
        yield event;
      }
    } finally {
      stopWatching();
      answers.close();
    }
  }

  /** What it was doing is handed over. */
  async close(): Promise<void> {
    await (await this.#engine)?.close();
  }

  get #name(): string {
    return this.#options.name ?? 'agent';
  }

  #open(): Promise<Engine> {
    const { taskQueue = `agenticx-${this.#name}` } = this.#options;
    this.#engine ??= openInProcess(this.#registry(), { ...this.#options, taskQueue });
    return this.#engine;
  }

  #registry() {
    const { environment = process.env, systemPrompt = '', tools = {} } = this.#options;
    const timeouts = toTimeouts(environment, this.#llm.timeouts);
    return registryFrom({
      agents: [defineAgent({ name: this.#name, sideA: { prompt: 'turn' }, guards: this.#guards() })],
      prompts: [
        definePrompt({
          ...{ name: 'turn', toolDescription: 'A turn.', prompt: systemPrompt, model: 'llm' },
          ...{ includeChat: true, includePastTools: true, parallelToolCalls: true },
          tools: Object.keys(tools),
        }),
      ],
      models: [defineModel({ ...this.#llm, name: 'llm', timeouts })],
      tools: toTools(tools, this.#gate),
    });
  }

  /** What guards a turn, under the page's knobs. */
  #guards(): GuardsInput {
    const { maxToolRounds = 10, loopWarningThreshold = 4, loopCriticalThreshold = 8 } = this.#options;
    const { compactor = true } = this.#options;
    return {
      compaction: compactor,
      rounds: { max: maxToolRounds },
      loops: { warning: loopWarningThreshold, critical: loopCriticalThreshold },
      ...(this.#gate.approvesAll && { confirm: 'auto' as const }),
    };
  }
}
