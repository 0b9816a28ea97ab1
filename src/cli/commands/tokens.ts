/** `everthread tokens …`: who may use the HTTP API. These commands need only the store. */
import { type Command, InvalidArgumentError } from 'commander';
import { RuntimeError } from '../../core/value/error.ts';
import { API_SCOPES } from '../../server/api/caller.ts';
import { createToken } from '../../server/api/stored-access.ts';
import type { ApiToken } from '../../store/token/token-record.ts';
import { addCommon, type Cli, type CommonOptions, GROUPS, withExitCode } from '../command.ts';
import { withOwnStore, withStore } from '../connection/find-store.ts';
import { dateAndTime, note, printJson, printLine, toTable } from '../output/output.ts';
import { escapeControls } from '../output/terminal-text.ts';

interface CreateOptions extends CommonOptions {
  readonly name?: string;
  readonly scope?: readonly string[];
  readonly user?: string;
  readonly organization?: string;
  readonly days?: number;
}

const DAY_MS = 86_400_000;

export function addTokens(program: Command, cli: Cli): void {
  const tokens = program
    .command('tokens')
    .helpGroup(GROUPS.run)
    .summary('manage the tokens of the HTTP API: see "everthread tokens --help"')
    .description(
      'Tokens of the HTTP API. The store keeps only the hash of a token: the token itself is shown once, when it is created. ' +
        'As soon as there is one, every request needs a token.',
    );
  const create = tokens
    .command('create')
    .summary('create a token')
    .description('Creates a token and prints it, only this once. With --json: { secret, token }.')
    .option('--name <name>', 'its owner, or its purpose')
    .option('--scope <scope...>', `what it may do: ${API_SCOPES.join(', ')} (default: all)`)
    .option('--user <id>', 'it can only access the threads of this user')
    .option('--organization <id>', 'threads that it starts belong to this organisation')
    .option('--days <n>', 'it expires after this number of days', parseDays);
  addCommon(create).action(withExitCode(cli, makeToken));
  const list = tokens
    .command('list')
    .summary('list tokens')
    .description('Lists tokens, including expired and revoked ones. With --json: { tokens }.');
  addCommon(list).action(withExitCode(cli, listTokens));
  const revoke = tokens
    .command('revoke')
    .summary('revoke a token')
    .description('Revokes a token: it is rejected from the next request on. With --json: { token }.')
    .argument('<id>', 'id of the token');
  addCommon(revoke).action(withExitCode(cli, revokeToken));
}

async function makeToken({
  project,
  json,
  name,
  scope: scopes,
  user: userId,
  organization: organizationId,
  days,
}: CreateOptions): Promise<undefined> {
  await withOwnStore(project, async (store) => {
    const lifeMs = days === undefined ? undefined : days * DAY_MS;
    const made = await createToken(store, { name, scopes, userId, organizationId, lifeMs });
    if (json) return printJson(made);
    printLine(made.secret);
    note(`Keep it: it is not shown again. "everthread tokens revoke ${made.token.id}" revokes it.`);
  });
  return undefined;
}

async function listTokens({ project, json }: CommonOptions): Promise<undefined> {
  await withStore(project, async (store) => {
    const tokens = await store.tokens.list();
    if (json) return printJson({ tokens });
    if (tokens.length === 0) return note('There are no tokens.');
    const rows = tokens.map((token) => [
      token.id,
      token.name ?? '',
      token.scopes.join(' '),
      token.userId ?? 'all',
      dateAndTime(token.createdAt),
      toEnd(token),
    ]);
    printLine(escapeControls(toTable([['TOKEN', 'NAME', 'SCOPES', 'USER', 'MADE', 'ENDS'], ...rows])));
  });
  return undefined;
}

function toEnd({ expiresAt, revokedAt }: ApiToken): string {
  if (revokedAt !== null) return `revoked ${dateAndTime(revokedAt)}`;
  return expiresAt === null ? 'never' : dateAndTime(expiresAt);
}

async function revokeToken(id: string, { project, json }: CommonOptions): Promise<undefined> {
  await withStore(project, async (store) => {
    const token = await store.tokens.revoke(id);
    if (!token)
      throw new RuntimeError(
        'TokenNotFound',
        `There is no token "${id}": "everthread tokens list" lists all tokens.`,
      );
    if (json) return printJson({ token });
    note(`Revoked ${id}.`);
  });
  return undefined;
}

function parseDays(text: string): number {
  const days = Number(text);
  if (/^\d{1,5}$/.test(text) && days > 0) return days;
  throw new InvalidArgumentError('Give a whole number of days, 1 or more.');
}
