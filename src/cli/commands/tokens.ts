/** `everthread tokens …`: who may use the HTTP API. These commands need only the store. */
import { InvalidArgumentError } from 'commander';
import { RuntimeError } from '../../core/value/error.ts';
import { API_SCOPES } from '../../server/api/caller.ts';
import { createToken } from '../../server/api/stored-access.ts';
import { argument, type CommandDefinition, option } from '../command.ts';
import { storeCommand } from '../connection/find-store.ts';
import { listing } from '../output/listing.ts';
import { dateAndTime } from '../output/output.ts';

const DAY_MS = 86_400_000;

const create = storeCommand({
  createStore: true,
  summary: 'create a token',
  description: 'Creates a token and prints it, only this once. With --json: { secret, token }.',
  options: {
    name: option('<name>', 'its owner, or its purpose'),
    scope: option<readonly string[]>('<scope...>', `what it may do: ${API_SCOPES.join(', ')} (default: all)`),
    user: option('<id>', 'it can only access the threads of this user'),
    organization: option('<id>', 'threads that it starts belong to this organisation'),
    days: option('<n>', 'it expires after this number of days', parseDays),
  },
  async read(store, { name, scope: scopes, user: userId, organization: organizationId, days }) {
    const lifeMs = days === undefined ? undefined : days * DAY_MS;
    const made = await createToken(store, { name, scopes, userId, organizationId, lifeMs });
    const { secret, token } = made;
    return {
      json: made,
      text: secret,
      note: `Keep it: it is not shown again. "everthread tokens revoke ${token.id}" revokes it.`,
    };
  },
});

const list = storeCommand({
  summary: 'list tokens',
  description: 'Lists tokens, including expired and revoked ones. With --json: { tokens }.',
  async read(store) {
    return listing('tokens', await store.tokens.list(), {
      columns: {
        TOKEN: 'id',
        NAME: 'name',
        SCOPES: 'scopes',
        USER: ({ userId }) => userId ?? 'all',
        MADE: 'createdAt',
        ENDS({ expiresAt, revokedAt }) {
          if (revokedAt !== null) return `revoked ${dateAndTime(revokedAt)}`;
          return expiresAt === null ? 'never' : dateAndTime(expiresAt);
        },
      },
      none: 'There are no tokens.',
      plainHeading: true,
    });
  },
});

const revoke = storeCommand({
  summary: 'revoke a token',
  description: 'Revokes a token: it is rejected from the next request on. With --json: { token }.',
  arguments: { id: argument('id of the token', 'token') },
  async read(store, { id }) {
    const token = await store.tokens.revoke(id);
    if (token) return { json: { token }, note: `Revoked ${id}.` };
    throw new RuntimeError(
      'TokenNotFound',
      `There is no token "${id}": "everthread tokens list" lists all tokens.`,
    );
  },
});

export const tokenCommands: CommandDefinition = {
  description:
    'Tokens of the HTTP API. The store keeps only the hash of a token: the token itself is shown once, when it is created. ' +
    'As soon as there is one, every request needs a token.',
  commands: { create, list, revoke },
};

function parseDays(text: string): number {
  const days = Number(text);
  if (/^\d{1,5}$/.test(text) && days > 0) return days;
  throw new InvalidArgumentError('Give a whole number of days, 1 or more.');
}
