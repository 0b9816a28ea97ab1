/**
 * The normalised form of what authors write (definitions §3-8): defaults applied, every field checked.
 * `definitions` makes these values; activities read them; workflows never see them.
 */

import type { AgentPolicy } from '../governance/agent-policy.ts';
import type { BudgetDefinition } from '../governance/budget.ts';
import type { Guards } from '../guard/guards.ts';
import type { ModelPrices } from '../message/model-price.ts';
import type { ProviderFactory } from '../message/provider.ts';
import type { ModelTimeouts } from '../value/limit.ts';
import type { AuthorSchema } from './author-schema.ts';
import type { McpToolRef } from './mcp-server.ts';
import type { VariableDefinition } from './variable-definition.ts';

export interface SessionToolBinding {
  readonly name: string;
  readonly messageProperty?: string;
  readonly attachmentsProperty?: string;
}

export interface SideDefinition {
  readonly prompt: string;
  readonly label?: string;
  readonly stopOnResponse: boolean;
  readonly stopTool?: string;
  readonly stopToolResponseProperty?: string;
  readonly maxSteps?: number;
  /** What the last answer of an execution must fit. */
  readonly output?: AuthorSchema;
  readonly sessionStop?: SessionToolBinding;
  readonly sessionFail?: SessionToolBinding;
  readonly sessionStatus?: SessionToolBinding;
}

export interface AgentDefinition {
  readonly kind: 'agent';
  readonly name: string;
  readonly type: 'ai_human' | 'dual_ai';
  readonly sideA: SideDefinition;
  readonly sideB?: SideDefinition;
  readonly maxSessionTurns?: number;
  /** What each execution may spend. */
  readonly budget?: BudgetDefinition;
  readonly exposeAsTool: boolean;
  readonly toolDescription?: string;
  readonly title?: string;
  readonly description?: string;
  readonly icon?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly variables: readonly VariableDefinition[];
  readonly hooks: readonly string[];
  /** Rules for the actions of its threads; if absent, the agent restricts nothing. */
  readonly policy?: AgentPolicy;
  /** Limits and safeguards of its turns. */
  readonly guards?: Guards;
  /** `note`: its model is told what effects a superseded part of the history had (docs/client.md). */
  readonly supersede?: { readonly note?: boolean };
  /** Metadata of the package that the agent comes from: shown, otherwise unused. */
  readonly packageName?: string;
  readonly version?: string;
  readonly author?: string;
  readonly license?: string;
  readonly tags?: readonly string[];
}

export type PromptPart =
  | { readonly type: 'text'; readonly content: string }
  | { readonly type: 'include'; readonly prompt: string }
  | { readonly type: 'env'; readonly property: string };

/** One entry of a prompt's `tools`: a name, with whatever the entry configures. */
export interface PromptToolEntry {
  readonly name: string;
  /** Set for a tool of an MCP server: `name` is then the name that models call. */
  readonly mcp?: McpToolRef;
  /** Set for an agent elsewhere: the name of its file. */
  readonly a2a?: string;
  /** Set for a task: `name` is then the name that models call. */
  readonly task?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly options: Readonly<Record<string, unknown>>;
  /** The fields of a sub-prompt or subagent entry: checked, defaults not yet applied. */
  readonly extra: Readonly<Record<string, unknown>>;
}

export interface PromptDefinition {
  readonly kind: 'prompt';
  readonly name: string;
  readonly toolDescription: string;
  readonly prompt: readonly PromptPart[];
  readonly model: string;
  readonly includeChat: boolean;
  readonly includePastTools: boolean;
  readonly parallelToolCalls: boolean;
  readonly toolChoice: 'auto' | 'none' | 'required';
  readonly requiredSchema?: AuthorSchema;
  /** The type of its answer when it is called. */
  readonly output?: AuthorSchema;
  readonly tools: readonly PromptToolEntry[];
  readonly variables: readonly VariableDefinition[];
  readonly env: Readonly<Record<string, string>>;
  readonly reasoning?: ReasoningConfig;
  readonly recentImageThreshold: number;
  readonly providerOptions: Readonly<Record<string, unknown>>;
  readonly hooks: readonly string[];
  /** Guards of this prompt; each overrides that of its agent. */
  readonly guards?: Guards;
}

export interface ReasoningConfig {
  readonly effort?: 'low' | 'medium' | 'high';
  readonly maxTokens?: number;
  readonly exclude?: boolean;
  readonly include?: boolean;
}

export interface ModelCapabilities {
  readonly reasoningLevels?: Readonly<Record<number, string | null>>;
  readonly supportsImages?: boolean;
  readonly supportsToolCalls?: boolean;
  readonly supportsStreaming?: boolean;
  readonly supportsJsonMode?: boolean;
  readonly maxContextTokens?: number;
  readonly maxOutputTokens?: number;
}

export interface ModelDefinition extends ModelPrices {
  readonly kind: 'model';
  readonly name: string;
  readonly provider: ProviderFactory;
  readonly model: string;
  readonly fallbacks: readonly string[];
  readonly includedProviders: readonly string[];
  readonly capabilities: ModelCapabilities;
  readonly providerOptions: Readonly<Record<string, unknown>>;
  readonly providerTools: readonly string[];
  /** Seconds; `MODEL_TIMEOUTS` applies where a time is absent. */
  readonly timeouts?: ModelTimeouts;
  /** Requests at once, of one worker; unlimited if absent. */
  readonly concurrency?: number;
}
