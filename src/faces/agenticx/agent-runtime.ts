/**
 * AgenticX's AgentRuntime on top of the engine: a worker and a client in this process. A session is a thread, a turn is
 * one of its executions, and the events of a turn are read off the log. Rounds, loops, summaries, timeouts and
 * confirmations are handled by the engine.
 */
import {
  defineAgent,
  defineModel,
  definePrompt,
  type GuardsInput,
  type ModelInput,
  registryFrom,
} from '../../definitions/index.ts';
import type { RuntimeEvent } from '../../projections/agenticx/agenticx-event.ts';
import { type Engine, type EngineOptions, openInProcess } from '../../worker/in-process.ts';
import { checkNames, ENGINE_OPTIONS, type Names } from '../known-names.ts';
import { type AgentHook, MemoryHook, toHooks } from './agent-hook.ts';
import type { ConfirmGate } from './confirm-gate.ts';
import { readTurn, seePause } from './default-id.ts';
import { GateAnswers } from './gate-answers.ts';
import { type Environment, statusQueryLimitsOf, toTimeouts } from './runtime-setting.ts';
import { type RuntimeTools, toTools } from './runtime-tool.ts';
import { followTeam } from './team-events.ts';
import { TeamManager } from './team-manager.ts';
import { metaTools, type RuntimeTeam, teamProject } from './team-project.ts';
import { beginTurn, findPause, leavePause, watchStop } from './turn.ts';

export type LlmDefinition = Omit<ModelInput, 'name' | 'fallbacks'>;

export interface AgentRuntimeOptions extends EngineOptions {
  /**
   * Names the agent and its queue: a process with the same name, tools and store continues its turns. Default `agent`.
   */
  readonly name?: string;
  readonly systemPrompt?: string;
  readonly tools?: RuntimeTools;
  /** What runs around its rounds: a `HookRegistry`, or a list. */
  readonly hooks?: Iterable<AgentHook>;
  /** If false, the runtime has no `MemoryHook` unless `hooks` has one. Default true. */
  readonly memory?: boolean;
  /** Subagents that its model may create: it then has the meta tools of a team manager. */
  readonly team?: RuntimeTeam;
  /** Organisation whose sessions it creates and continues: a session of another one is not found. None unless given. */
  readonly organizationId?: string;
  /**
   * Most rounds of a turn, 1 or more. Default 10; `maxToolRoundsOf()` returns that of AgenticX's server, between 10 and
   * 120.
   */
  readonly maxToolRounds?: number;
  /** Number of calls in a loop after which the model is reminded, and after which the turn ends. Default 4 and 8. */
  readonly loopWarningThreshold?: number;
  readonly loopCriticalThreshold?: number;
  /** When older messages are replaced by a summary in requests: AgenticX's thresholds unless given; `false`: never. */
  readonly compactor?: GuardsInput['compaction'];
  /** Environment to read the `AGX_LLM_…` times and the `AGX_STATUS_QUERY_…` limits from; `process.env` unless given. */
  readonly environment?: Environment;
}

const RUNTIME_OPTIONS: Names<AgentRuntimeOptions> = {
  ...ENGINE_OPTIONS,
  name: true,
  systemPrompt: true,
  tools: true,
  organizationId: true,
  maxToolRounds: true,
  hooks: true,
  memory: true,
  team: true,
  loopWarningThreshold: true,
  loopCriticalThreshold: true,
  compactor: true,
  environment: true,
};

export interface TurnOptions {
  /**
   * Stamped on every event; default `meta`. A session that another agent begins is a subagent's: it has checkpoints,
   * and without rounds it is paused instead of failing.
   */
  readonly agentId?: string;
  /** Called every 100 ms while the turn is being read; true stops the turn, an error counts as false. */
  readonly shouldStop?: () => boolean | Promise<boolean>;
  /**
   * Id of the execution. The same turn again attaches to it: its message is sent once. Unless given, a turn of the
   * session that says the same, has not ended, and is read by no process of this machine is the same turn.
   */
  readonly turnId?: string;
}

const TURN_OPTIONS: Names<TurnOptions> = { agentId: true, shouldStop: true, turnId: true };

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

  /**
   * Throws `InvalidValue` for an unknown option; the first turn throws `InvalidDefinitions` for values that no definition
   * can have.
   */
  constructor(llm: LlmDefinition, confirmGate: ConfirmGate, options: AgentRuntimeOptions = {}) {
    checkNames('An AgentRuntime', 'option', options, RUNTIME_OPTIONS);
    this.#llm = llm;
    this.#gate = confirmGate;
    this.#options = options;
  }

  /**
   * Sends a message to a session, which is a thread's id, and yields all events of the turn; the last one is its only
   * terminal event, or `subagent_paused`: after `resume`, the same turn continues, and another turn of the session ends
   * it. Turns of a session run one after the other. A turn continues if its reader stops. Throws `ThreadTerminated`,
   * `ExecutionConflict` if the id belongs to another turn, and what a message is refused with.
   */
  async *runTurn(
    userInput: string,
    session: string,
    options: TurnOptions = {},
  ): AsyncGenerator<RuntimeEvent, void> {
    checkNames('A turn', 'option', options, TURN_OPTIONS);
    const { agentId = 'meta', shouldStop, turnId } = options;
    const { client } = await this.#open();
    const reading = await readTurn(client, { id: turnId, session, input: userInput });
    const { id } = reading;
    const { organizationId } = this.#options;
    const context = organizationId === undefined ? {} : { context: { organizationId } };
    const agent = agentId === 'meta' ? this.#name : this.#delegate;
    const turn = { agent, session, input: userInput, id, ...context };
    const stopWatching = watchStop(client, turn, shouldStop);
    const answers = new GateAnswers(this.#gate, client);
    try {
      if (reading.paused !== undefined) await leavePause(client, session, reading.paused);
      await beginTurn(client, turn);
      for await (const event of followTeam(client, { threadId: session, run: id, agentId })) {
        await answers.follow(event);
        yield event;
        const isPaused = event.type === 'subagent_paused' && event.agent_id === agentId;
        if (isPaused && (await findPause(client, session))) return seePause(id);
      }
    } finally {
      stopWatching();
      answers.close();
      reading.close();
    }
  }

  /** Gives a paused session as many rounds again. False if it is not paused, or another caller was first. */
  async resume(session: string, by?: string): Promise<boolean> {
    const { client } = await this.#open();
    const pause = await findPause(client, session);
    if (!pause) return false;
    const { outcome } = await client.answerWait(pause.id, {
      approved: true,
      ...(by !== undefined && { by }),
    });
    return outcome === 'taken';
  }

  /** The manager of the subagents of a session. */
  async team(session: string): Promise<TeamManager> {
    return new TeamManager((await this.#open()).client, session);
  }

  /** Closes the runtime; its worker hands over what it was doing. */
  async close(): Promise<void> {
    await (await this.#engine)?.close();
  }

  get #name(): string {
    return this.#options.name ?? 'agent';
  }

  /** Name of the agent whose sessions are paused. */
  get #delegate(): string {
    return `${this.#name}_delegate`;
  }

  #open(): Promise<Engine> {
    const { taskQueue = `agenticx-${this.#name}` } = this.#options;
    this.#engine ??= openInProcess(this.#registry(), { ...this.#options, taskQueue });
    return this.#engine;
  }

  #registry() {
    const { environment = process.env, systemPrompt = '', tools = {}, team } = this.#options;
    const members = teamProject(team);
    const timeouts = toTimeouts(environment, this.#llm.timeouts);
    const hooks = this.#hooks();
    const agent = { sideA: { prompt: 'turn' }, hooks: hooks.map(({ name }) => name) };
    const { rounds, ...guards } = {
      ...this.#guards(),
      ...(team && { team: { ...statusQueryLimitsOf(environment), ...team.limits } }),
    };
    return registryFrom({
      agents: [
        defineAgent({ name: this.#name, ...agent, guards: { ...guards, rounds } }),
        defineAgent({
          name: this.#delegate,
          ...agent,
          guards: { ...guards, rounds: { ...rounds, pause: true } },
        }),
        ...members.agents,
      ],
      hooks,
      prompts: [
        definePrompt({
          name: 'turn',
          toolDescription: 'A turn.',
          prompt: systemPrompt,
          model: 'llm',
          includeChat: true,
          includePastTools: true,
          parallelToolCalls: true,
          tools: [...Object.keys(tools), ...metaTools(team)],
        }),
        ...members.prompts,
      ],
      models: [defineModel({ ...this.#llm, name: 'llm', timeouts })],
      tools: { ...toTools(tools, this.#gate), ...members.tools },
    });
  }

  #hooks() {
    const { memory = true } = this.#options;
    const given = [...(this.#options.hooks ?? [])];
    const hasMemory = given.some((hook) => hook instanceof MemoryHook);
    return toHooks(memory && !hasMemory ? [...given, new MemoryHook()] : given);
  }

  /** The guards of a turn, from AgenticX's options. */
  #guards(): GuardsInput & Required<Pick<GuardsInput, 'rounds'>> {
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
