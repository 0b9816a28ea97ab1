/** Finds the system programs that walls are built with, without running any. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Searched after `PATH`, which for most users lacks the folders of administrators. */
const SYSTEM_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin'];

export function findTool(name: string): string | undefined {
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter).filter((folder) => folder.startsWith('/')),
    ...SYSTEM_FOLDERS,
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
