/** A validated project: its tools, and everything that it defines, by name. */

import type { ActionContext } from '../governance/prepared-action.ts';
import type { ToolResult } from '../message/message.ts';
import type { A2aAgentDefinition } from './a2a-agent.ts';
import type { AuthorSchema } from './author-schema.ts';
import type { AgentDefinition, ModelDefinition, PromptDefinition } from './definition.ts';
import type { EffectDefinition } from './effect.ts';
import type { EndpointDefinition } from './endpoint.ts';
import type { HookDefinition } from './hook.ts';
import type { ManifestDefinition } from './manifest.ts';
import type { McpServerDefinition } from './mcp-server.ts';
import type { PolicyDefinition } from './policy.ts';
import type { TaskDefinition } from './task.ts';
import type { ThreadState } from './thread-state.ts';
import type { VariableDefinition } from './variable-definition.ts';

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
  /** True if calls of it may run beside each other. Its state can change nothing (author/tool/read-only.ts). */
  readonly parallel?: true;
  /** `own`: each call is an activity of its own, however short its calls are. */
  readonly activity?: 'own';
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
  /** False if a person must be asked for each call that needs an approval. */
  readonly grantable?: false;
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
