/**
 * Registers the search attributes of our threads with a namespace (`temporal/search-attributes.json`).
 * Idempotent. A service that refuses is not an error: the report names what is missing, and threads run without those
 * attributes. The dev server's own `--search-attribute` cannot replace this: it is ignored for a database file that
 * already exists.
 */
import type { Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { errorMessage, RuntimeError } from '../core/value/error.ts';
import { isUnreachable } from './grpc-status.ts';
import { readSearchAttributes } from './server-settings.ts';

export interface SearchAttributeReport {
  /** Usable now, those in `created` included. */
  present: string[];
  /** Missing, or present with another type. */
  missing: string[];
  created: string[];
}

const { IndexedValueType } = proto.temporal.api.enums.v1;
const TYPE_VALUES = {
  Text: IndexedValueType.INDEXED_VALUE_TYPE_TEXT,
  Keyword: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
  Int: IndexedValueType.INDEXED_VALUE_TYPE_INT,
  Double: IndexedValueType.INDEXED_VALUE_TYPE_DOUBLE,
  Bool: IndexedValueType.INDEXED_VALUE_TYPE_BOOL,
  Datetime: IndexedValueType.INDEXED_VALUE_TYPE_DATETIME,
  KeywordList: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST,
};

/** The part that connections of clients and of workers have in common. */
type OperatorConnection = Pick<Connection, 'operatorService'>;

/** @throws RuntimeError `TemporalUnavailable` when the service does not respond. */
export async function ensureSearchAttributes(
  connection: OperatorConnection,
  namespace: string,
): Promise<SearchAttributeReport> {
  const wanted = Object.entries(readSearchAttributes());
  const before = await listSearchAttributes(connection, namespace);
  for (const [name, type] of wanted) {
    if (before.get(name) === TYPE_VALUES[type]) continue;
    // One request each, so that one refusal does not affect the others. An attribute that was refused because another
    // process has registered it in the meantime appears in the second listing.
    await tolerateRefusal(() =>
      connection.operatorService.addSearchAttributes({
        namespace,
        searchAttributes: { [name]: TYPE_VALUES[type] },
      }),
    );
  }
  const after = await listSearchAttributes(connection, namespace);
  const usable = (listing: Map<string, number>) =>
    wanted.filter(([name, type]) => listing.get(name) === TYPE_VALUES[type]).map(([name]) => name);
  const present = usable(after);
  const presentBefore = usable(before);
  return {
    present,
    missing: wanted.map(([name]) => name).filter((name) => !present.includes(name)),
    created: present.filter((name) => !presentBefore.includes(name)),
  };
}

async function listSearchAttributes(
  connection: OperatorConnection,
  namespace: string,
): Promise<Map<string, number>> {
  const answer = await tolerateRefusal(() => connection.operatorService.listSearchAttributes({ namespace }));
  return new Map(Object.entries(answer?.customAttributes ?? {}));
}

async function tolerateRefusal<T>(request: () => Promise<T>): Promise<T | undefined> {
  try {
    return await request();
  } catch (error) {
    if (!isUnreachable(error)) return undefined;
    throw new RuntimeError(
      'TemporalUnavailable',
      `The Temporal service does not answer (${errorMessage(error)}): search attributes were not registered.`,
      { cause: error },
    );
  }
}
