/**
 * Creates stores in files as copies of one migrated store, each with its own id. Migrating a new file takes 70 ms of
 * computing, and tests create stores by the hundred. Other tests cover new files that `openStore` creates
 * (`contract/sqlite-processes`, `contract/private-files`, `contract/upgrade`).
 */
import { randomUUID } from 'node:crypto';
import { constants, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openStore } from '../../src/store/open-store.ts';

let template: Promise<string> | undefined;

/** Creates a store at a path where no file exists; its folder must exist. */
export async function placeStore(file: string): Promise<void> {
  template ??= makeTemplate();
  copyFileSync(await template, file, constants.COPYFILE_EXCL);
  const database = new DatabaseSync(file);
  try {
    // Nobody else uses the file yet, so it need not survive a crash.
    database.exec('pragma synchronous = off');
    database.prepare("update meta set value = ? where key = 'store_id'").run(randomUUID());
  } finally {
    database.close();
  }
}

async function makeTemplate(): Promise<string> {
  const file = join(process.env.EVERTHREAD_TEST_FOLDER as string, `template-${randomUUID()}.db`);
  // The last connection to close writes the log (WAL) back into the file.
  await (await openStore(`sqlite:${file}?synchronous=normal`, '')).close();
  return file;
}
