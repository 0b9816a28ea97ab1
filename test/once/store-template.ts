/**
 * Stores in files, as the first opening makes them: copies of one that was migrated, each with an id of its own. To migrate a new
 * file takes 70 ms of computing, and tests make stores by the hundred. What new files become is shown where `openStore` makes them
 * (`contract/sqlite-processes`, `contract/private-files`, `contract/upgrade`).
 */
import { randomUUID } from 'node:crypto';
import { constants, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openStore } from '../../src/store/open-store.ts';

let template: Promise<string> | undefined;

/** Puts a store where none is; its folder is there. */
export async function placeStore(file: string): Promise<void> {
  template ??= makeTemplate();
  copyFileSync(await template, file, constants.COPYFILE_EXCL);
  const database = new DatabaseSync(file);
  try {
    // Of a file that nobody else has yet, nothing need survive.
    database.exec('pragma synchronous = off');
    database.prepare("update meta set value = ? where key = 'store_id'").run(randomUUID());
  } finally {
    database.close();
  }
}

async function makeTemplate(): Promise<string> {
  const file = join(process.env.EVERTHREAD_TEST_FOLDER as string, `template-${randomUUID()}.db`);
  // The last to close a file takes its log into it.
  await (await openStore(`sqlite:${file}?synchronous=normal`, '')).close();
  return file;
}
