/** What authors pass to `defineAgent` (definitions §7, 0.1.0). Types alone; `define-agent.ts` checks them. */
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

/** Two prompts talk until a session tool ends it. */
export interface DualAiAgentInput extends AgentInputFields {
  type: 'dual_ai';
  /** The second AI. */
  sideB: SideInput;
}

/** `type`: `ai_human` (default), or `dual_ai`, which requires `sideB`. */
export type AgentInput = AiHumanAgentInput | DualAiAgentInput;

/** What agents of both types have. */
export interface AgentInputFields {
  /** Identity of the agent: threads start with it and handoffs name it. snake_case advised. */
  name: string;
  /** The AI; in a `dual_ai` agent the first AI. */
  sideA: SideInput;
  /** How many turns of both sides together a session may have; default unlimited. Recommended for every `dual_ai` agent. */
  maxSessionTurns?: number;
  /** What each execution may spend, with all that it causes; default unlimited. A limit of 0 forbids. */
  budget?: BudgetInput;
  /** Whether prompts may call this agent as a tool; default false. A subagent needs it. */
  exposeAsTool?: boolean;
  /** What models read when the agent is offered as a tool; required with `exposeAsTool`. */
  toolDescription?: string;
  /** Display name (legacy). */
  title?: string;
  /** A short text for user interfaces. */
  description?: string;
  /** A URL, or an absolute path that API answers turn into one. */
  icon?: string;
  /** Values below those of thread, user and instance, above those of prompts. Never secrets: they are source text. */
  env?: Readonly<Record<string, string>>;
  /** Variables that the agent needs or explains; default none. */
  variables?: readonly VariableInput[];
  /** @deprecated Use `env` for values and `variables` for declarations. */
  tenvs?: object;
  /** Ids of hooks, run in this order while the active prompt lists none; default none. */
  hooks?: readonly string[];
  /**
   * What calls of its threads may do, by the capabilities that they need: rules such as `{ 'records.*': 'require_approval', 'records.read':
   * 'allow' }`, or an object with `rules`, `default` and `undeclared`. Without it nothing is judged.
   */
  policy?: PolicyInput;
  /** What guards its turns, such as the detection of loops; default none. */
  guards?: AgentGuardsInput;
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
  /** How many steps this side may take in what one input from outside began, those of queued tools included; a whole number above 0, default unlimited. */
  maxSteps?: number;
  /** A successful call of this tool ends the session with a result. */
  sessionStop?: SessionToolInput;
  /** A successful call of this tool ends the session with a failure. */
  sessionFail?: SessionToolInput;
  /** A call of this tool tells the parent the child's status; the session goes on. */
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
