/** The programs of the system that walls are built with, found without running any. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** After `PATH`: what is installed for administrators is not in everybody's. */
const ALSO = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin'];

export function findTool(name: string): string | undefined {
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter).filter((folder) => folder.startsWith('/')),
    ...ALSO,
  ];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
