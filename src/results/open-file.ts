import { constants } from 'node:fs';

/** For a file of a folder where others write, too: a link in its place is not followed, and a pipe not waited for. */
export const readOwnFile = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
