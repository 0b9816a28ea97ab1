/** What authors pass to `defineAgent` (definitions §7, 0.1.0). Types alone; `define-agent.ts` checks them. */
import type { AuthorSchema } from '../core/author/author-schema.ts';
import type { BudgetInput } from './budget-input.ts';
import type { AgentGuardsInput } from './guards-input.ts';
import type { PolicyInput } from './policy-input.ts';
import type { VariableInput } from './variable-input.ts';

/** Side A answers a person. */
export interface AiHumanAgentInput extends AgentInputFields {
  type?: 'ai_human';
  /** Unused: side B is a person. */
  sideB?: SideInput;
}

/** Two AI sides talk to each other until a session tool ends the session. */
export interface DualAiAgentInput extends AgentInputFields {
  type: 'dual_ai';
  /** The second AI. */
  sideB: SideInput;
}

/** `type`: `ai_human` (default), or `dual_ai`, which requires `sideB`. */
export type AgentInput = AiHumanAgentInput | DualAiAgentInput;

/** Fields of both types of agents. */
export interface AgentInputFields {
  /** Identity of the agent: threads start with it and handoffs name it. snake_case advised. */
  name: string;
  /** The AI; in a `dual_ai` agent the first AI. */
  sideA: SideInput;
  /** Maximum turns of a session, both sides together; default unlimited. Recommended for every `dual_ai` agent. */
  maxSessionTurns?: number;
  /** What each execution may spend, including all work that it causes; default unlimited. A limit of 0 allows none. */
  budget?: BudgetInput;
  /** Whether prompts may call this agent as a tool; default false. A subagent needs it. */
  exposeAsTool?: boolean;
  /** What models read when the agent is offered as a tool; required with `exposeAsTool`. */
  toolDescription?: string;
  /** Display name (legacy). */
  title?: string;
  /** A short text for user interfaces. */
  description?: string;
  /** A URL, or an absolute path, which API responses turn into a URL. */
  icon?: string;
  /**
   * Values of variables. They override those of prompts, and are overridden by those of the thread, user and instance.
   * Never put secrets here: they are source text.
   */
  env?: Readonly<Record<string, string>>;
  /** Variables that the agent needs or explains; default none. */
  variables?: readonly VariableInput[];
  /** @deprecated Use `env` for values and `variables` for declarations. */
  tenvs?: object;
  /** Ids of hooks, used if the active prompt lists none. Hooks of equal priority run in this order. Default none. */
  hooks?: readonly string[];
  /**
   * What calls of its threads may do, by the capabilities that they need: rules such as
   * `{ 'records.*': 'require_approval', 'records.read': 'allow' }`, or an object with `rules`, `default` and
   * `undeclared`. If absent, the agent restricts nothing.
   */
  policy?: PolicyInput;
  /** Limits and safeguards of its turns, such as loop detection; default none. */
  guards?: AgentGuardsInput;
  /**
   * `note`: when an answer is made again, or a message edited, the model is told what the superseded part has done: its calls,
   * effects, subagents, values and files. Default false; it is always told of unknown outcomes.
   */
  supersede?: { note?: boolean };
  /** Packaging metadata. */
  packageName?: string;
  /** Packaging metadata. */
  version?: string;
  /** Packaging metadata. */
  author?: string;
  /** Packaging metadata. */
  license?: string;
  /** @deprecated Kept as metadata, otherwise unused. */
  tags?: readonly string[];
}

export interface SideInput {
  /** Name of the prompt that this side starts with. */
  prompt: string;
  /** Display name of the side. */
  label?: string;
  /** Whether the side's turn ends when it answers with text and calls no tool; default true. */
  stopOnResponse?: boolean;
  /** A successful call of this tool ends the side's turn. */
  stopTool?: string;
  /** The argument of `stopTool` whose value becomes the side's message. */
  stopToolResponseProperty?: string;
  /**
   * Maximum steps of this side after one input from outside, including steps of queued tools; a whole number above 0,
   * default unlimited.
   */
  maxSteps?: number;
  /**
   * The type of an execution's last answer, a zod object: the answer is then JSON that fits it, and its value is the
   * thread's `output`. An answer that does not fit is asked for again, twice at most; then the execution fails with
   * `OutputInvalid`. Not for `dual_ai` agents, whose result is the arguments of `sessionStop`. Default none.
   */
  output?: AuthorSchema;
  /** A successful call of this tool ends the session with a result. */
  sessionStop?: SessionToolInput;
  /** A successful call of this tool ends the session with a failure. */
  sessionFail?: SessionToolInput;
  /** A call of this tool reports the child's status to the parent; the session goes on. */
  sessionStatus?: SessionToolInput;
  /** @deprecated The old name of `sessionStop`. */
  endSessionTool?: SessionToolInput;
  /** @deprecated The old name of `sessionFail`. */
  failSessionTool?: SessionToolInput;
  /** @deprecated The old name of `sessionStatus`. */
  statusTool?: SessionToolInput;
}

/** A tool's name, or the name with the arguments that carry the payload. */
export type SessionToolInput =
  | string
  | {
      name: string;
      /** The argument with the result, failure or status text. */
      messageProperty?: string;
      /** The argument with one path or a list of paths under `/attachments/` to hand over. */
      attachmentsProperty?: string;
    };
