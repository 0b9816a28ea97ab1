/** AgenticX's Agent and Task: plain values, checked when they are created. */
import { hash } from 'node:crypto';
import { RuntimeError } from '../../core/value/error.ts';
import { checkNames, type Names } from '../known-names.ts';
import type { AgentHook } from './agent-hook.ts';
import type { AgentRuntimeOptions, LlmDefinition } from './agent-runtime.ts';
import type { GuideRail, GuideRailsConfig } from './guide-rail.ts';
import type { Fields, RuntimeTools } from './runtime-tool.ts';

export interface LlmHooks {
  readonly before?: readonly NonNullable<AgentHook['beforeModel']>[];
  readonly after?: readonly NonNullable<AgentHook['afterModel']>[];
}

export interface AgentFields {
  /** Unless given, a UUID derived from its organisation and its name: the same in every process. */
  readonly id?: string;
  /** Also the name of the engine's agent: processes that run tasks under the same name share them. */
  readonly name: string;
  readonly role: string;
  readonly goal: string;
  readonly backstory?: string | null;
  /** The organisation that the threads of its tasks belong to. */
  readonly organizationId?: string;
  readonly version?: string;
  readonly tools?: RuntimeTools;
  /** Used instead of the executor's model. */
  readonly llm?: LlmDefinition;
  /** Most rounds of a turn of `AgentRuntime`; an executor has its own limit. */
  readonly maxIterations?: number;
  /**
   * Times that calls of its tools may fail in a row and be made again; then its task asks a person for help. Read by
   * executors alone. Default 2, at least 1.
   */
  readonly maxRetryLimit?: number;
  /** Functions around each request to a model, in order: `beforeModel` and `afterModel` of an `AgentHook`. */
  readonly llmHooks?: LlmHooks;
  /** Validate the output of a task, in this order. */
  readonly guiderails?: readonly GuideRail[];
  readonly guiderailsConfig?: GuideRailsConfig;
}

const AGENT_FIELDS: Names<AgentFields> = {
  id: true,
  name: true,
  role: true,
  goal: true,
  backstory: true,
  organizationId: true,
  version: true,
  tools: true,
  llm: true,
  maxIterations: true,
  maxRetryLimit: true,
  llmHooks: true,
  guiderails: true,
  guiderailsConfig: true,
};

/**
 * @example
 * ```ts
 * const agent = new Agent({ name: 'assistant', role: 'Analyst', goal: 'Summarize findings' });
 * console.log(agent.organizationId, agent.maxIterations); // default-org 25
 * ```
 */
export class Agent {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly goal: string;
  readonly backstory: string | null;
  readonly organizationId: string;
  readonly version: string;
  readonly tools: RuntimeTools;
  readonly llm: LlmDefinition | null;
  readonly maxIterations: number;
  readonly maxRetryLimit: number;
  readonly llmHooks: readonly AgentHook[];
  readonly guiderails: readonly GuideRail[];
  readonly guiderailsConfig: GuideRailsConfig;

  /** Throws `InvalidValue` for an unknown field, and for a missing one. */
  constructor(fields: AgentFields) {
    checkNames('An agent', 'field', fields, AGENT_FIELDS);
    requireTexts('agent', fields, ['name', 'role', 'goal']);
    this.name = fields.name;
    this.role = fields.role;
    this.goal = fields.goal;
    this.backstory = fields.backstory ?? null;
    this.organizationId = fields.organizationId ?? 'default-org';
    this.id = fields.id ?? deriveUuid([this.organizationId, this.name]);
    this.version = fields.version ?? '1.0.0';
    this.tools = fields.tools ?? {};
    this.llm = fields.llm ?? null;
    this.maxIterations = fields.maxIterations ?? 25;
    this.maxRetryLimit = fields.maxRetryLimit ?? 2;
    this.llmHooks = toAgentHooks(fields.llmHooks);
    this.guiderails = fields.guiderails ?? [];
    this.guiderailsConfig = fields.guiderailsConfig ?? {};
  }

  get toolNames(): readonly string[] {
    return Object.keys(this.tools);
  }

  /** The system prompt that describes the agent to a model. */
  get persona(): string {
    const { role, goal, backstory } = this;
    return `You are ${this.name}: ${role}.\nYour goal: ${goal}${backstory === null ? '' : `\n${backstory}`}`;
  }

  /** Options for an `AgentRuntime`: its persona, its tools, its hooks, its limit and its organisation. */
  get runtimeOptions(): Pick<
    AgentRuntimeOptions,
    'name' | 'systemPrompt' | 'tools' | 'maxToolRounds' | 'organizationId' | 'hooks'
  > {
    const { name, persona: systemPrompt, tools, maxIterations: maxToolRounds, organizationId } = this;
    const { llmHooks: hooks } = this;
    return { name, systemPrompt, tools, maxToolRounds, organizationId, hooks };
  }
}

export interface TaskFields {
  /**
   * Letters, digits and . _ : - alone. Unless given, the executor names the task when it runs: it takes up a task of the
   * same agent that says the same, has not ended, and is read by no process of this machine; else it is a new one.
   */
  readonly id?: string;
  readonly description: string;
  readonly expectedOutput: string;
  /** JSON that the model receives beside the description. */
  readonly context?: Fields;
}

const TASK_FIELDS: Names<TaskFields> = { id: true, description: true, expectedOutput: true, context: true };

/**
 * A task. Its id is that of its thread and of its execution; running it again attaches to that execution.
 * @example
 * ```ts
 * const task = new Task({ id: 't1', description: 'Research topic X', expectedOutput: 'Short report' });
 * ```
 */
export class Task {
  /** Undefined until it runs, unless given. */
  id: string | undefined;
  readonly description: string;
  readonly expectedOutput: string;
  readonly context: Fields;

  /** Throws `InvalidValue` for an unknown field, and for a missing one. */
  constructor(fields: TaskFields) {
    checkNames('A task', 'field', fields, TASK_FIELDS);
    requireTexts('task', fields, ['description', 'expectedOutput']);
    this.id = fields.id;
    this.description = fields.description;
    this.expectedOutput = fields.expectedOutput;
    this.context = fields.context ?? {};
  }

  /** The message that asks a model to do the task. */
  get prompt(): string {
    const beside = Object.keys(this.context).length > 0 ? `\nContext: ${JSON.stringify(this.context)}` : '';
    return `${this.description}\nExpected output: ${this.expectedOutput}${beside}`;
  }
}

function deriveUuid(parts: readonly string[]): string {
  const hex = hash('sha256', JSON.stringify(parts));
  // Version 8 and variant 8, as for UUIDs of one's own making (RFC 9562).
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5');
}

function toAgentHooks({ before = [], after = [] }: LlmHooks = {}): readonly AgentHook[] {
  return [...before.map((beforeModel) => ({ beforeModel })), ...after.map((afterModel) => ({ afterModel }))];
}

function requireTexts(what: string, given: object, names: readonly string[]): void {
  for (const name of names)
    if (typeof (given as Fields)[name] !== 'string' || (given as Fields)[name] === '')
      throw new RuntimeError('InvalidValue', `The "${name}" of the ${what} must be a non-empty string.`);
}
