/** What a thread stores: values (runtime §14), clause by clause, and files and env as the definitions specify them. */
import type { Requirement } from './requirement.ts';

type Row = readonly [id: string, level: Requirement['level'], text: string];

const ROWS: readonly Row[] = [
  [
    'definitions 3',
    'MUST',
    'Required variables need values before an execution starts and before a tool runs; the error names the missing variable.',
  ],
  ['definitions 6.2', 'MUST', 'Prompt parts: text, include and env; env never shows a secret.'],
  [
    'definitions 16',
    'MUST',
    'env resolves thread, account, instance, agent, tool entry and prompt; setEnv reaches descendants; secrets are redacted wherever they would be written.',
  ],
  ['runtime 14.1.1', 'MUST', 'Values survive executions, restarts and redeploys.'],
  [
    'runtime 14.1.2',
    'MUST',
    'Every later read in the thread returns the value that was set, in any context.',
  ],
  [
    'runtime 14.1.3',
    'MUST',
    'Each thread has its own keys; code of a parent, a child or a sibling neither reads nor writes them.',
  ],
  ['runtime 14.1.4', 'MUST', 'Values keep their JSON structure; a value that is not JSON is refused.'],
  ['runtime 14.1.5', 'MUST', 'getValue is null for a key that was never set or was deleted.'],
  ['runtime 14.1.6', 'MUST', 'null and undefined delete a key.'],
  ['runtime 14.1.7', 'SHOULD', 'A write is durable before setValue resolves.'],
  ['runtime 14.1.8', 'MUST', 'No value is copied between parent and child.'],
  ['runtime 14.1.9', 'MAY', 'Values are not encrypted, and the documentation says so.'],
  ['runtime 14.2', 'SHOULD', 'Exceeding a cap rejects with an error that names it; caps are documented.'],
  ['definitions 18', 'MUST', 'Each thread has its own file system, with these methods and rules.'],
  [
    'definitions 22.29',
    'SHOULD',
    'grepFiles returns lines and line numbers; a pattern that is not a valid expression is matched literally.',
  ],
];

export const STATE_STORAGE: readonly Requirement[] = ROWS.map(([id, level, text]) => ({
  id,
  level,
  text,
}));
