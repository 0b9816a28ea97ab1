/** Stage 1 of the tool gate: finds what the call names. One stage for each kind of callee. */

import { go } from '../../author/policy/gate.ts';
import { refuseCall } from '../../author/tool/check-arguments.ts';
import { UNNAMED_CALL } from '../../core/answer/clean-calls.ts';
import type { AuthorSchema } from '../../core/author/author-schema.ts';
import type { AgentDefinition, PromptDefinition, PromptToolEntry } from '../../core/author/definition.ts';
import type { Registry, ToolDefinition } from '../../core/author/registry.ts';
import type { ThreadState } from '../../core/author/thread-state.ts';
import type { ToolResult } from '../../core/message/message.ts';
import { findActivePrompt, hasTwoSides } from '../../core/project/active-side.ts';
import { findCallee } from '../../core/project/callee.ts';
import {
  type ClientTool,
  clientCapability,
  clientToolName,
  parseClientToolName,
  readResultValue,
} from '../../core/project/client-tool.ts';
import { isSubagentCall } from '../../core/project/subagent.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { StoredToolCall } from '../../store/tool/tool-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { readClientTools } from '../model/client-offer.ts';
import type { CallInfo, KnownCall } from './call-info.ts';

type Ports = Pick<ActivityDependencies, 'registry'>;
type ToolPorts = Pick<ActivityDependencies, 'registry' | 'store'>;

/** Runs only the first LIMITS.callsRun calls of a model's answer; later ones are refused with an error that says so. */
export function limitCalls(_ports: unknown, { execution: { call, index } }: KnownCall) {
  if (call.origin !== 'model' || index < LIMITS.callsRun) return go();
  return refuseCall(
    `Too many calls in one answer: only the first ${LIMITS.callsRun} are executed. Repeat this call in another answer.`,
  );
}

export async function resolveTool(
  { registry, store }: ToolPorts,
  { execution: { call, thread, subprompt } }: KnownCall,
) {
  if (call.name === UNNAMED_CALL) return refuseCall(UNNAMED_CALL_ERROR);
  const project = registry();
  const ofClient = parseClientToolName(call.name) !== undefined;
  // A client offers its tools to the conversation, not to its sub-prompts.
  if (ofClient && call.origin === 'model' && !subprompt) {
    const found = await findClientTool({ store }, thread.id, call.name);
    return found ? go({ tool: found }) : refuseCall(`Tool not found: ${call.name}`);
  }
  const tool = project.tools.get(call.name);
  // If a prompt or a subagent is dispatched as a tool, there were more of them than the workflow can be told of
  // (LIMITS.laterPrompts, laterChildren).
  if (findCallee(project, call.name)?.kind === 'prompt') return refuseCall(describeTooMany('prompts'));
  if (isSubagentCall(project, call.name)) return refuseCall(describeTooMany('subagents'));
  return tool ? go({ tool }) : refuseCall(`Tool not found: ${call.name}`);
}

const UNNAMED_CALL_ERROR = 'The call named no tool, so nothing was done. Call a tool by its name, or answer.';

const describeTooMany = (kind: string): string =>
  `Too many ${kind} were called in one answer: repeat this call in another answer.`;

export interface ResolvedPrompt {
  readonly prompt: PromptDefinition;
  /** The schema that checks its arguments. */
  readonly schema: AuthorSchema | undefined;
}

export function resolvePrompt({ registry }: Ports, { execution: { call } }: KnownCall) {
  const prompt = registry().prompts.get(call.name);
  return prompt ? go({ prompt, schema: prompt.requiredSchema }) : refuseCall(`Tool not found: ${call.name}`);
}

export function limitDepth(_ports: unknown, { execution: { subprompt } }: KnownCall) {
  if ((subprompt?.depth ?? 0) < LIMITS.subpromptDepth) return go();
  return refuseCall(`Prompts may call one another at most ${LIMITS.subpromptDepth} levels deep.`);
}

/** The agent that a call of this name hands over to; undefined if it is no handoff. */
export function findHandoff(registry: Registry, name: string): AgentDefinition | undefined {
  const callee = findCallee(registry, name);
  return callee?.kind === 'agent' && callee.type === 'ai_human' ? callee : undefined;
}

/** Checks whether the agent may take this thread over; its side A's prompt reads the arguments. */
export function resolveHandoff(
  { registry }: Ports,
  { execution: { thread }, agent }: KnownCall & { readonly agent: AgentDefinition },
) {
  const project = registry();
  if (hasTwoSides(project.agents.get(thread.agent))) {
    return refuseCall(
      `"${agent.name}" cannot take over this thread: it belongs to the two AI sides of "${thread.agent}". Answer, or call an agent that gets a separate thread.`,
    );
  }
  if (agent.name === thread.agent) return refuseCall(`"${agent.name}" already has this thread.`);
  return go({ schema: project.prompts.get(agent.sideA.prompt)?.requiredSchema });
}

/**
 * A call of a tool that the client runs: a durable wait that occupies no process and is answered by the client's next
 * request. It passes the tool gate like any call.
 */
async function findClientTool(
  ports: Pick<ActivityDependencies, 'store'>,
  threadId: string,
  called: string,
): Promise<ToolDefinition | undefined> {
  const tools = await readClientTools(ports, threadId);
  const tool = tools.find((each) => clientToolName(each.name) === called);
  return tool && toDefinition(tool);
}

function toDefinition({ name, description, parameters }: ClientTool): ToolDefinition {
  return {
    kind: 'tool',
    name: clientToolName(name),
    description,
    parameters,
    execute: (state) => askClient(state, name),
    variables: [],
    executionMode: 'local',
    idempotent: true,
    quick: true,
    timeoutMs: 10_000,
    capabilities: [clientCapability(name)],
    asks: true,
  };
}

async function askClient(state: ThreadState, name: string): Promise<ToolResult> {
  const { value } = await state.ask({ key: 'client', question: `The client must run its tool "${name}".` });
  return readResultValue(value);
}

/**
 * Stage: checks whether the call may name its callee. Code may reach whatever the project defines; models and signals
 * only what the active prompt lists. Adds the prompt's entry for the callee, which may be absent if code made the call.
 */
export function requireListed(
  { registry }: Pick<ActivityDependencies, 'registry'>,
  { execution }: KnownCall,
) {
  const entry = findEntry(registry(), execution);
  const refusal = refuseUnlisted(execution.call, entry);
  return refusal === undefined ? go({ entry }) : refuseCall(refusal);
}

/** Why the call is refused; undefined if it is allowed. */
export function refuseUnlisted(
  { name, origin }: Pick<StoredToolCall, 'name' | 'origin'>,
  entry: PromptToolEntry | undefined,
): string | undefined {
  // A client tool is listed by the newest user message instead.
  if (origin === 'code' || entry || parseClientToolName(name) !== undefined) return undefined;
  return `Tool "${name}" is not available to this prompt.`;
}

export function findEntry(
  registry: Registry,
  { call, thread, side, subprompt }: Pick<CallInfo, 'call' | 'thread' | 'side' | 'subprompt'>,
): PromptToolEntry | undefined {
  const active = findActivePrompt(registry, thread.agent, { side, subprompt });
  return active?.tools.find(({ name }) => name === call.name);
}
