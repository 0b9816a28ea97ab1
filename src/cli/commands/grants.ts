/** `everthread grants …`: approvals that reach further than one call. Needs only the store. */
import { storedGrants } from '../../client/stored-grants.ts';
import {
  argument,
  type CommandDefinition,
  command,
  option,
  optional,
  parseCount,
  toggle,
} from '../command.ts';
import { storeCommand, withStore } from '../connection/find-store.ts';
import { listing } from '../output/listing.ts';
import { dateAndTime } from '../output/output.ts';

const list = storeCommand({
  summary: 'list grants',
  description:
    'Lists the grants that count, newest first: all, or those that apply to one thread. With --json: { grants }.',
  arguments: { thread: optional('only those that apply to this thread', 'thread') },
  options: {
    all: toggle('also those that are revoked or have expired'),
    limit: option('<n>', 'at most n', parseCount, 50),
  },
  async read(store, { thread: threadId, all, limit }) {
    const grants = await storedGrants(store).list({ threadId, all, limit });
    return listing('grants', grants, {
      columns: {
        GRANT: 'id',
        TOOL: ['tool', 30],
        COVERS: ({ covers, capabilities }) =>
          covers === 'tool'
            ? `every call that needs ${capabilities.join(', ') || 'nothing'}`
            : 'the same call',
        FOR: ({ scope, threadId: thread, userId }) =>
          scope === 'always' ? `user ${userId ?? '-'}` : `${scope} of ${thread ?? '-'}`,
        BY: 'grantedBy',
        SINCE: 'grantedAt',
        UNTIL: ({ expiresAt, revokedAt }) =>
          revokedAt !== null ? 'revoked' : expiresAt === null ? '-' : dateAndTime(expiresAt),
      },
      none: 'There are no grants.',
      limit,
      more: () => '--limit shows more.',
    });
  },
});

const revoke = command({
  summary: 'revoke a grant',
  description: 'Revokes a grant: it counts for no call that begins later. Again changes nothing.',
  arguments: { id: argument('id of the grant') },
  options: { by: option('<name>', 'who revokes it') },
  async run({ id, by, ...common }) {
    const grant = await withStore(common.project, (store) => storedGrants(store).revoke(id, { by }));
    return { json: grant, note: `The grant ${id} for "${grant.tool}" is revoked.` };
  },
});

export const grantCommands: CommandDefinition = {
  description:
    'A grant is an approval that reaches further than one call: calls with the same arguments, or every call of a tool, in an execution, in a thread, ' +
    'or in all threads of a user.',
  commands: { list, revoke },
};
