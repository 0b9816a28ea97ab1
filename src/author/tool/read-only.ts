/**
 * The read-only state of a tool that says `parallel`: calls that are under way together must not change what the others
 * read, nor what their order decides. It is the same when such a tool runs alone.
 * - What the body changes in its copy of `context` is not saved.
 */
import type { ToolDefinition } from '../../core/author/registry.ts';
import type { ExecutionState } from '../../core/author/thread-execution.ts';
import type { ThreadState } from '../../core/author/thread-state.ts';
import { RuntimeError } from '../../core/value/error.ts';

const WRITES = [
  'injectMessage',
  'updateMessage',
  'deleteMessage',
  'queueMessage',
  'act',
  'scheduleEffect',
  'removeScheduledEffect',
  'setValue',
  'setEnv',
  'writeFile',
  'unlinkFile',
  'mkdirFile',
  'rmdirFile',
  'notifyParent',
  'setStatus',
  'terminate',
] as const satisfies readonly (keyof ThreadState)[];

export function toReadOnly(state: ThreadState, { name }: Pick<ToolDefinition, 'name'>): ThreadState {
  const refused = (member: string) =>
    new RuntimeError(
      'ReadOnlyTool',
      `${member}: the tool "${name}" says parallel: true, so it may only read. Leave out parallel if it changes anything.`,
    );
  const throwing = (member: string) => () => {
    throw refused(member);
  };
  const rejecting = (member: string) => async () => {
    throw refused(member);
  };
  const execution =
    state.execution &&
    withOverrides<ExecutionState>(state.execution, {
      stop: throwing('execution.stop'),
      forceTurn: throwing('execution.forceTurn'),
    });
  return withOverrides<ThreadState>(state, {
    ...Object.fromEntries(WRITES.map((member) => [member, rejecting(member)])),
    queueTool: throwing('queueTool'),
    context: Object.freeze(copyScratch(state.context)),
    execution,
  });
}

function copyScratch(scratch: ThreadState['context']): ThreadState['context'] {
  return Object.fromEntries(Object.entries(scratch).map(([key, value]) => [key, copyValue(value)]));
}

/** What cannot be cloned was put there by a hook of this call, and no other call sees it. */
function copyValue(value: unknown): unknown {
  try {
    return structuredClone(value);
  } catch {
    return value;
  }
}

/** A frozen copy with other members. By descriptors: a spread would evaluate the getters. */
export function withOverrides<State extends object>(state: State, own: Partial<State>): State {
  const members = { ...Object.getOwnPropertyDescriptors(state), ...Object.getOwnPropertyDescriptors(own) };
  return Object.freeze(Object.defineProperties({}, members)) as State;
}
