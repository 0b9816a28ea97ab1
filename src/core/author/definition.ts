/**
 * The normalised form of what authors write (definitions §3-8): defaults applied, every field checked.
 * `definitions` makes these values; activities read them; workflows never see them.
 */

import type { AgentPolicy } from '../governance/agent-policy.ts';
import type { BudgetDefinition } from '../governance/budget.ts';
import type { ActionContext } from '../governance/prepared-action.ts';
import type { Guards } from '../guard/guards.ts';
import type { ToolResult } from '../message/message.ts';
import type { ModelPrices } from '../message/model-price.ts';
import type { ProviderFactory } from '../message/provider.ts';
import type { ModelTimeouts } from '../value/limit.ts';
import type { A2aAgentDefinition } from './a2a-agent.ts';
import type { EffectDefinition } from './effect.ts';
import type { EndpointDefinition } from './endpoint.ts';
import type { HookDefinition } from './hook.ts';
import type { ManifestDefinition } from './manifest.ts';
import type { McpServerDefinition, McpToolRef } from './mcp-server.ts';
import type { PolicyDefinition } from './policy.ts';
import type { TaskDefinition } from './task.ts';
import type { ThreadState } from './thread-state.ts';

export interface VariableDefinition {
  readonly name: string;
  readonly type: 'text' | 'secret';
  readonly required: boolean;
  readonly scoped: boolean;
  readonly description: string;
}

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

/** A zod object schema from any copy of zod 4, recognised by shape alone. */
export interface AuthorSchema {
  safeParse(value: unknown): ParsedBySchema;
  /** Also supports asynchronous refinements, for which `safeParse` throws. */
  safeParseAsync(value: unknown): Promise<ParsedBySchema>;
}

export type ParsedBySchema =
  | { success: true; data: unknown }
  | { success: false; error: { issues: readonly { path: readonly PropertyKey[]; message: string }[] } };

export interface ToolDefinition {
  readonly kind: 'tool';
  /** From the file's name; set by discovery. */
  readonly name: string;
  readonly description: string;
  readonly args?: AuthorSchema;
  /** JSON schema of `args` as sent to models: strict objects, `$schema` and `propertyNames` removed. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Part of the fingerprint of its calls. */
  readonly version?: string;
  readonly execute: (state: ThreadState, args?: never) => Promise<ToolResult> | ToolResult;
  readonly variables: readonly VariableDefinition[];
  /** Names reachable by queueTool and invokeTool; undefined means any. */
  readonly uses?: readonly string[];
  readonly executionMode: 'local' | 'provider';
  readonly executionProvider?: string;
  /** May run more than once per call without harm. */
  readonly idempotent: boolean;
  /** Idempotent and normally done within 1 s. */
  readonly quick: boolean;
  readonly timeoutMs: number;
  /** Names of the capabilities that a call of it needs; none if absent. */
  readonly capabilities?: readonly string[];
  /** Describes what a call would do, before the call is judged. */
  readonly prepareAction?: (args: never, context: ActionContext) => unknown;
  /**
   * Set if a person must confirm its calls, whatever a policy says. A function returns the text to confirm, or null if
   * this call needs none.
   */
  readonly confirm?: true | ((args: never) => unknown);
  /** Milliseconds that a call waits for an approval; without limit if absent. */
  readonly approvalTimeoutMs?: number;
  /** True if its body may ask people (`state.ask`); after an answer, the body restarts from its beginning. */
  readonly asks?: true;
  /** True if it only runs code: its calls are dispatched as `runCode`. Only built-in tools have it. */
  readonly runsCode?: true;
  /** True if it queries the status of the thread's subagents; the engine answers it. Only one built-in tool has it. */
  readonly queriesTeam?: true;
  /**
   * Name of the task that a call creates, as a child of its thread; the task's end is the call's result. Only tools
   * made by the engine have it.
   */
  readonly startsTask?: string;
  /** Set if its body is a call of a tool of an MCP server; `tool` is the tool's name there. */
  readonly remote?: { readonly server: McpServerDefinition; readonly tool: string };
  /** Set if its body is a task of an agent elsewhere. */
  readonly a2a?: A2aAgentDefinition;
}

/** The whole project, validated: every reference resolves. */
export interface Registry {
  readonly agents: ReadonlyMap<string, AgentDefinition>;
  readonly prompts: ReadonlyMap<string, PromptDefinition>;
  readonly models: ReadonlyMap<string, ModelDefinition>;
  readonly tools: ReadonlyMap<string, ToolDefinition>;
  /** By id. */
  readonly hooks: ReadonlyMap<string, HookDefinition>;
  /** By name. */
  readonly effects: ReadonlyMap<string, EffectDefinition>;
  /** By name. */
  readonly policies: ReadonlyMap<string, PolicyDefinition>;
  /** By name. */
  readonly mcpServers: ReadonlyMap<string, McpServerDefinition>;
  /** By name. */
  readonly a2aAgents: ReadonlyMap<string, A2aAgentDefinition>;
  readonly tasks: ReadonlyMap<string, TaskDefinition>;
  /** By name. */
  readonly manifests: ReadonlyMap<string, ManifestDefinition>;
  /** By file name below `agents/api`, without extension. */
  readonly endpoints: ReadonlyMap<string, EndpointDefinition>;
}
