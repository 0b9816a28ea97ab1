/** ThreadState's tools (definitions §14.6): queued as a normal call, or run now. */
import type { Registry, ToolDefinition } from '../core/definition.ts';
import { errorMessage } from '../core/error.ts';
import type { ToolResult } from '../core/message.ts';
import { isSubagentCall } from '../core/subagent.ts';
import type { ThreadState } from '../core/thread-state.ts';
import type { ThreadStore } from '../store/port/thread-store.ts';
import type { CallerContext } from './caller-context.ts';
import { checkArguments } from './check-arguments.ts';
import type { ThreadEnv } from './thread-env.ts';
import { runToolBody } from './tool-body.ts';

export interface ToolsInput {
  readonly store: ThreadStore;
  readonly registry: Registry;
  readonly env: ThreadEnv;
  readonly nextId: () => string;
  /** The state that the invoked tool is given, but for its variables. */
  readonly state: () => ThreadState;
}

export function createTools(
  { store, registry, env, nextId, state }: ToolsInput,
  { thread, key, tool, reachingTool = tool, work, execution }: CallerContext,
): Pick<ThreadState, 'queueTool' | 'invokeTool'> {
  const run = async (name: string, args: Readonly<Record<string, unknown>>): Promise<ToolResult> => {
    const refusal = refuseReach(reachingTool, name);
    const target = registry.tools.get(name);
    if (refusal !== undefined) return { status: 'error', error: refusal };
    if (!target) return { status: 'error', error: describeMissing(registry, name) };
    const checked = checkArguments(target, args);
    if (!checked.ok) return checked.result;
    const own = Object.freeze({ ...describe(state()), ...env.bind(target) });
    const body = { tool: target, state: own, args: checked.args, work: key };
    return (await env.refuseTool(target)) ?? runToolBody(body);
  };
  return {
    queueTool(name, args = {}) {
      const refusal =
        refuseReach(reachingTool, name) ??
        (isCallable(registry, name) ? undefined : `Tool not found: ${name}`);
      if (refusal !== undefined) throw new Error(refusal);
      work.queueTool({ id: nextId(), name, arguments: env.redactKnown(args) });
    },
    async invokeTool(name, args = {}) {
      const began = performance.now();
      const result = await run(name, args);
      const durationMs = Math.round(performance.now() - began);
      const data = { name: String(name).slice(0, 128), status: result.status, durationMs };
      // The tool has run; a log that cannot be written must not make it look as if it had not.
      await store
        .appendEvent(thread.id, { type: 'tool.invoked', data, step: execution?.step })
        .catch((error) => void errorMessage(error));
      return result;
    },
  };
}

/** Getters and all: a spread would read them. */
function describe(state: ThreadState): ThreadState {
  return Object.create(null, Object.getOwnPropertyDescriptors(state)) as ThreadState;
}

/** What a call may name: a tool, a prompt, an agent that takes a handoff, a subagent, or what makes and tells one. */
function isCallable(registry: Registry, name: string): boolean {
  const { tools, prompts, agents } = registry;
  if (tools.has(name) || prompts.has(name)) return true;
  return agents.get(name)?.type === 'ai_human' || isSubagentCall(registry, name);
}

function describeMissing(registry: Registry, name: string): string {
  return isCallable(registry, name)
    ? `"${name}" is no tool that can run at once; queue it with queueTool.`
    : `Tool not found: ${name}`;
}

/** `uses`, when declared, is the whole list of what a tool may reach (definitions §8). */
function refuseReach(tool: ToolDefinition | undefined, name: string): string | undefined {
  if (tool?.uses === undefined || tool.uses.includes(name)) return undefined;
  return `Tool "${tool.name}" may not reach "${name}": add it to "uses".`;
}
