/**
 * Variables inside one tool call (definitions §3, §16): `state.env` and its like, the check of required ones, and what is
 * taken out of the result before it is stored.
 * T1. A tool whose thread has values that this worker cannot read does not run: its result could not be redacted.
 * T2. What is read around the body waits for a store that is away: the call has begun.
 * T3. A secret that the call has read or set is taken out of its result even when it was changed since.
 */
import type { ToolDefinition } from '../core/definition.ts';
import { type EnvState, resolveVariable, type Variable } from '../core/env.ts';
import { isScoped, requiredBy } from '../core/env-requirement.ts';
import { errorMessage, RuntimeError } from '../core/error.ts';
import type { ToolResult } from '../core/message.ts';
import type { ThreadRecord } from '../store/port.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { outlast } from './outlast.ts';
import { readPlace, readRedactor } from './thread-env.ts';

export interface ToolEnv {
  /** As this tool sees them: the values of its entry in the prompt are its own. */
  bind(tool: ToolDefinition): EnvState;
  /** The error result of a tool that may not run; undefined when it may. */
  refuse(tool: ToolDefinition): Promise<ToolResult | undefined>;
  redact(result: ToolResult): Promise<ToolResult>;
}

export function openToolEnv(dependencies: ActivityDependencies, thread: ThreadRecord): ToolEnv {
  const { store, registry } = dependencies;
  const known: Variable[] = [];
  const remember = (variable: Variable) => {
    if (variable.type === 'secret') known.push(variable);
  };
  const read = async (tool: ToolDefinition, name: string) =>
    resolveVariable(name, await readPlace(dependencies, thread, tool.name));
  return {
    bind: (tool) => ({
      async env(name) {
        const variable = await read(tool, name);
        if (!variable) throw missing(name, thread.id);
        remember(variable);
        return variable.value;
      },
      envType: async (name) => (await read(tool, name))?.type ?? 'secret',
      async setEnv(name, value, options = {}) {
        const inherits = (agent: string) => !isScoped(registry(), agent, name);
        const owner = { thread: thread.id };
        const type = await store.setEnv({ owner, name, value, type: options.type, inherits });
        remember({ name, value, type });
      },
    }),
    async refuse(tool) {
      try {
        const place = await outlast(() => readPlace(dependencies, thread, tool.name));
        const names = requiredBy(tool).filter((name) => resolveVariable(name, place) === undefined);
        return names.length === 0 ? undefined : { status: 'error', error: needs(tool, names) };
      } catch (error) {
        // Thrown, it would leave a call that has begun, of unknown outcome; but nothing has run.
        return { status: 'error', error: `The tool did not run: ${errorMessage(error)}` };
      }
    },
    async redact(result) {
      const redact = await outlast(() => readRedactor(dependencies, thread, known));
      const texts = (['result', 'error', 'stack'] as const).flatMap((field) => {
        const text = result[field];
        return text === undefined ? [] : [[field, redact(text)]];
      });
      return { ...result, ...Object.fromEntries(texts) };
    },
  };
}

function missing(name: string, threadId: string): RuntimeError {
  return new RuntimeError(
    'MissingVariable',
    `The variable "${name}" has no value for thread "${threadId}". Set it with "everthread env set", or declare a value in the agent or the prompt.`,
  );
}

function needs(tool: ToolDefinition, names: readonly string[]): string {
  const list = names.map((name) => `"${name}"`).join(', ');
  return `The tool "${tool.name}" needs ${names.length === 1 ? 'the variable' : 'the variables'} ${list}, which ${names.length === 1 ? 'has' : 'have'} no value.`;
}
