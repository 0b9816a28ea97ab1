/** Stops what the set-up started and removes its files. */
import { rmSync } from 'node:fs';

export default async function tearDown(): Promise<void> {
  await globalThis.everthreadTestPostgres?.stop();
  await globalThis.everthreadTestServer?.stop();
  const folder = process.env.EVERTHREAD_TEST_FOLDER;
  if (folder) rmSync(folder, { recursive: true, force: true });
}
