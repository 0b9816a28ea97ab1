/** `everthread actions …`: calls that a policy has judged, and the reconciliation of those whose outcome is unknown. */
import { StoredActions } from '../../client/stored-actions.ts';
import { ACTION_STATES } from '../../core/governance/agent-policy.ts';
import { errorMessage } from '../../core/value/error.ts';
import type { Wait } from '../../store/wait/wait-record.ts';
import {
  argument,
  type CommandDefinition,
  type CommonOptions,
  command,
  option,
  optional,
  TASK_QUEUE,
  toggle,
} from '../command.ts';
import { storeCommand, withStore } from '../connection/find-store.ts';
import { EXIT } from '../exit.ts';
import { listing } from '../output/listing.ts';
import { note } from '../output/output.ts';

const list = storeCommand({
  summary: 'list uncertain actions',
  description: 'Lists actions, newest first. With --json: { actions }.',
  arguments: { thread: optional('only those of this thread', 'thread') },
  options: {
    state: option('<state>', 'actions in this state', [...ACTION_STATES, 'all'] as const, 'uncertain'),
  },
  async read(store, { thread: threadId, state }) {
    const only = { threadId, state: state === 'all' ? undefined : state };
    return listing('actions', await new StoredActions(store).listActions(only), {
      columns: { ACTION: 'id', NAME: 'name', STATE: 'state', ASKED: 'requestedAt', NEEDS: 'capabilities' },
      none: state === 'all' ? 'There are no actions.' : `No action is ${state}.`,
      plainHeading: true,
    });
  },
});

const reconcile = command({
  summary: 'record the outcome of an action',
  description:
    'Stores the outcome of an uncertain action, once. Nothing is executed again. A thread that waits for it continues; any other has continued already, and ' +
    'the result that its model has read does not change.',
  arguments: { action: argument('id of the action', 'action') },
  options: {
    completed: { ...toggle('it has taken effect'), conflicts: ['notDone'] },
    notDone: toggle('it has not taken effect'),
    note: option('<text>', 'how the outcome is known'),
    by: option('<name>', 'who records it'),
    ...TASK_QUEUE,
  },
  async run({ action: id, completed, notDone, note: reason, by, ...common }) {
    if (!completed && !notDone) {
      note('Give the outcome: --completed, or --not-done.');
      return EXIT.usage;
    }
    const { action, wait } = await withStore(common.project, (store) =>
      new StoredActions(store).reconcile(id, { completed: completed === true, note: reason, by }),
    );
    if (wait) await repeatAnswer(common, wait);
    const outcome = completed ? 'has' : 'has not';
    return {
      json: action,
      note: `The action ${id} (${action.name}) is reconciled: it ${outcome} taken effect.`,
    };
  },
});

export const actionCommands: CommandDefinition = {
  description:
    "An action is a call that its agent's policy has judged. If a worker is lost during a tool call, its effect is unknown: the " +
    'action stays uncertain until it is reconciled.',
  commands: { list, reconcile },
};

/**
 * Repeats the stored answer so that the waiting thread receives it. If that fails, its worker finds the answer at its
 * next check.
 */
async function repeatAnswer(
  options: CommonOptions & { readonly taskQueue: string | undefined },
  { id, answer, threadId }: Wait,
): Promise<void> {
  const { withClient } = await import('../connection/open-client.ts');
  try {
    if (answer) await withClient(options, (client) => client.answerWait(id, answer));
  } catch (error) {
    note(`Thread ${threadId} continues after its worker's next check: ${errorMessage(error)}`);
  }
}
