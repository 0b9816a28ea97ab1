/** A PostgreSQL that waits for the disk: an embedded one, or a separate schema in `EVERTHREAD_TEST_POSTGRES`. */
import { randomUUID } from 'node:crypto';
import { startEmbeddedPostgres } from '../../test/support/embedded-postgres.ts';
import { ask } from '../../test/support/postgres.ts';

export interface PostgresBench {
  /** Address in the form of `EVERTHREAD_STORE`. */
  readonly address: string;
  close(): Promise<void>;
}

export async function openPostgresBench(): Promise<PostgresBench> {
  const given = process.env.EVERTHREAD_TEST_POSTGRES;
  if (!given) {
    const { address, stop } = await startEmbeddedPostgres();
    return { address, close: stop };
  }
  const schema = `bench_${randomUUID().replaceAll('-', '')}`;
  const url = new URL(given);
  url.searchParams.set('schema', schema);
  return {
    address: url.href,
    close: async () => {
      await ask(given, `drop schema ${schema} cascade`);
    },
  };
}
