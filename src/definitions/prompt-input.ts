/** What authors pass to `definePrompt` (definitions §6, §13.1). Types alone; `define-prompt.ts` checks them. */
import type { AuthorSchema } from '../core/author/author-schema.ts';
import type { GuardsInput } from './guards-input.ts';
import type { VariableInput } from './variable-input.ts';

export interface PromptInput {
  /** Unique; snake_case advised: models see it when the prompt is offered as a tool. */
  name: string;
  /** What models read when the prompt is offered as a tool. */
  toolDescription: string;
  /** The system text, or parts that are joined without a separator. `{{key}}` stands for a thread argument. */
  prompt: string | readonly PromptPartInput[];
  /** Name of a model in `agents/models/`. */
  model: string;
  /** Whether earlier messages of the conversation are sent; default false. The message that started the execution always is. */
  includeChat?: boolean;
  /** Whether calls and results of earlier executions are sent; default false. */
  includePastTools?: boolean;
  /** Whether the model may call several tools at once; default false. They run one after the other. */
  parallelToolCalls?: boolean;
  /** Default `auto`. */
  toolChoice?: 'auto' | 'none' | 'required';
  /** A `z.object(…)`: the arguments when called as a tool, and the creation arguments of an agent that starts here. */
  requiredSchema?: AuthorSchema;
  /**
   * A `z.object(…)`: the type of its answer when it is called as a tool. What does not fit is asked for again, twice at most; then the
   * call fails with `OutputInvalid`. Of an answer that calls tools nothing is checked. Default none.
   */
  output?: AuthorSchema;
  /** What the model may call: tools, prompts, agents, provider tools. Default none. */
  tools?: readonly ToolEntryInput[];
  /** Variables that the prompt needs or explains; default none. */
  variables?: readonly VariableInput[];
  /** Values of variables, with the lowest precedence; default none. Never put secrets here: they are source text. */
  env?: Readonly<Record<string, string>>;
  /** @deprecated Use `env` for values and `variables` for declarations. */
  tenvs?: object;
  reasoning?: ReasoningInput;
  /** How many of the newest messages keep real images; default 10. */
  recentImageThreshold?: number;
  /** Merged over the model's `providerOptions`; default none. */
  providerOptions?: Readonly<Record<string, unknown>>;
  /** Ids of hooks; if there are any, they replace the agent's. Default none. */
  hooks?: readonly string[];
  /** Guards of its turns; each replaces the same guard of its agent. Default the agent's. */
  guards?: GuardsInput;
  /** @deprecated Ignored: every prompt can be called. */
  exposeAsTool?: boolean;
}

export interface ReasoningInput {
  effort?: 'low' | 'medium' | 'high';
  /** Tokens, above 0. */
  maxTokens?: number;
  /** Do not return the reasoning. */
  exclude?: boolean;
  /** Send stored reasoning again in later steps. */
  include?: boolean;
}

export type PromptPartInput =
  | { type: 'text'; content: string }
  /** The text of another prompt. */
  | { type: 'include'; prompt: string }
  /** The value of a variable that is not secret; empty when it has none. */
  | { type: 'env'; property: string }
  /** @deprecated Use `text`. */
  | { type: 'string'; value: string }
  /** @deprecated Use `include`. */
  | { type: 'prompt'; id: string; label?: string }
  /** @deprecated Write `{{key}}` in a text. */
  | { type: 'variable'; value: string };

/** A name, or a name with configuration. Which fields apply depends on the kind of the named definition. */
export type ToolEntryInput = string | PromptToolInput | SubpromptInput | SubagentInput;

export interface PromptToolInput {
  name: string;
  /** Values of variables for this tool only; default none. */
  env?: Readonly<Record<string, string>>;
  /** @deprecated Use `env`. */
  tenvs?: Record<string, string>;
  /** Passed to the tool as `state.options`; default none. */
  options?: Readonly<Record<string, unknown>>;
}

/** A prompt offered as a tool. */
export interface SubpromptInput extends PromptToolInput {
  /** Whether the result holds the text answer; default true. */
  includeTextResponse?: boolean;
  /** Whether the result holds the calls and their results; default true. */
  includeToolCalls?: boolean;
  /** Whether the result holds errors; default true. */
  includeErrors?: boolean;
  /** The argument that becomes the first message. */
  initUserMessageProperty?: string;
  /** The argument with one path or a list of paths under `/attachments/`. */
  initAttachmentsProperty?: string;
}

/** A `dual_ai` agent offered as a tool: a child thread. */
export interface SubagentInput extends PromptToolInput {
  /** Whether the parent waits for the result; default true. */
  blocking?: boolean;
  /**
   * True if calls of it that stand beside each other, or beside calls of tools that are `parallel`, may be under way at
   * once: at most 8 in all. Only with `blocking`, and not with `resumable`. Default false: one after another.
   */
  parallel?: boolean;
  /** The argument that becomes the child's first message. */
  initUserMessageProperty?: string;
  /** The argument with one path or a list of paths under `/attachments/` to copy. */
  initAttachmentsProperty?: string;
  /** The argument with the child's display name. */
  initAgentNameProperty?: string;
  /**
   * Whether it runs before the prompt's first model step; default false. The values of `nameEnv` and `descriptionEnv`
   * are shown to a model, whatever their type. Those of `scopedEnv` are passed to the child only. With the object form,
   * only the child's code reads the variables from its parent: prompts show `[withheld NAME]` for all of them except
   * `nameEnv` and `descriptionEnv` (runtime §7.4).
   */
  immediate?: boolean | { nameEnv?: string; descriptionEnv?: string; scopedEnv?: readonly string[] };
  /** Name of a variable: the tool is offered only while its value is `true`, `1` or `yes`. */
  optional?: string;
  /** Whether the child can be messaged again after it answered; default false. */
  resumable?: false | ResumableInput;
}

export interface ResumableInput {
  /** The side that receives the parent's messages and answers them. */
  receives_messages: 'side_a' | 'side_b';
  /** Maximum number of instances that exist at once; default unlimited. */
  maxInstances?: number;
  /** `implicit` (default): results are sent to the parent automatically. */
  parentCommunication?: 'implicit' | 'explicit';
}
