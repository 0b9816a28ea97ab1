/**
 * `.everthread/dev.json` of a project: the address of the server that `everthread dev` started for it, which the
 * other commands read. A file whose process has ended counts as absent.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRIVATE_FILE } from '../store/folder/private-files.ts';
import { makeProjectFolder, projectFolder } from '../store/folder/project-folder.ts';

export interface DevFile {
  address: string;
  namespace: string;
  uiUrl?: string;
  /** Process id of the Temporal server. */
  pid: number;
}

export function readDevFile(projectDir: string): DevFile | undefined {
  const content = parse(devFilePath(projectDir));
  return content && isAlive(content.pid) ? content : undefined;
}

/** Written to a temporary file and renamed, so that a reader never sees half of it. */
export function writeDevFile(projectDir: string, content: DevFile): void {
  makeProjectFolder(projectDir);
  const path = devFilePath(projectDir);
  const written = `${path}.${process.pid}`;
  writeFileSync(written, `${JSON.stringify(content, null, 2)}\n`, { mode: PRIVATE_FILE });
  renameSync(written, path);
}

/** Removes the file if it still describes this server: another one may have replaced it. */
export function removeDevFile(projectDir: string, pid: number): void {
  const path = devFilePath(projectDir);
  if (parse(path)?.pid === pid) rmSync(path, { force: true });
}

function devFilePath(projectDir: string): string {
  return join(projectFolder(projectDir), 'dev.json');
}

function parse(path: string): DevFile | undefined {
  try {
    const content = JSON.parse(readFileSync(path, 'utf8'));
    const usable =
      typeof content.address === 'string' &&
      typeof content.namespace === 'string' &&
      Number.isInteger(content.pid);
    return usable ? content : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a process with this id runs, of any user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
