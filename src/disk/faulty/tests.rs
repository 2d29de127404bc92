use super::*;

fn read(disk: &FaultyDisk, path: &str) -> Vec<u8> {
    let file = disk.open(Path::new(path), OpenMode::Read).unwrap();
    let mut bytes = vec![0; file.size().unwrap() as usize];
    file.read_at(&mut bytes, 0).unwrap();
    bytes
}

#[test]
fn a_name_needs_its_folders_sync_and_bytes_need_the_files() {
    let disk = FaultyDisk::new();
    let folder = Path::new("/d");
    disk.create_dir_all(folder).unwrap();
    let file = disk.open(&folder.join("f"), OpenMode::Create).unwrap();
    file.write_all_at(b"one", 0).unwrap();
    file.sync_data().unwrap();
    let lost = disk.crash_image(CrashPolicy::DropAll);
    assert!(!lost.exists(folder).unwrap());
    disk.sync_dir(folder).unwrap();
    assert!(!disk.crash_image(CrashPolicy::DropAll).exists(folder).unwrap(), "the folder itself has a name too");
    disk.sync_dir(Path::new("/")).unwrap();
    file.write_all_at(b"two", 0).unwrap();
    assert_eq!(read(&disk.crash_image(CrashPolicy::DropAll), "/d/f"), b"one");
    assert_eq!(read(&disk.crash_image(CrashPolicy::KeepAll), "/d/f"), b"two");
    assert_eq!(read(&disk.kill_image(), "/d/f"), b"two");
}

/// A folder with a synced file of 4 KiB of ones.
fn disk_with_file() -> (FaultyDisk, Arc<dyn DiskFile>) {
    let disk = FaultyDisk::new();
    disk.create_dir_all(Path::new("/d")).unwrap();
    let file = disk.open(Path::new("/d/f"), OpenMode::Create).unwrap();
    file.write_all_at(&[1; 4096], 0).unwrap();
    file.sync_data().unwrap();
    disk.sync_dir(Path::new("/d")).unwrap();
    disk.sync_dir(Path::new("/")).unwrap();
    (disk, file)
}

#[test]
fn seeded_images_tear_drop_keep_and_reorder_by_sectors() {
    let (disk, file) = disk_with_file();
    file.write_all_at(&[2; 2048], 256).unwrap();
    file.write_all_at(&[3; 2048], 512).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..2000 {
        let image = read(&disk.crash_image(CrashPolicy::Seeded(seed)), "/d/f");
        assert_eq!(image, read(&disk.crash_image(CrashPolicy::Seeded(seed)), "/d/f"), "same seed, same image");
        for sector in image.chunks(512) {
            assert!(sector.chunks(256).all(|half| half.iter().all(|byte| *byte == half[0])));
        }
        seen.insert(image.chunks(256).map(|half| half[0]).collect::<Vec<_>>());
    }
    let kept: Vec<u8> = read(&disk, "/d/f").chunks(256).map(|half| half[0]).collect();
    assert!(seen.contains(&kept) && seen.contains(&vec![1; 16]));
    let reordered: Vec<u8> = [vec![1], vec![2; 8], vec![3], vec![1; 6]].concat();
    assert!(seen.contains(&reordered), "the first write may land last");
    assert!(seen.len() > 100, "{}", seen.len());
}

#[test]
fn a_rename_is_one_step_and_may_be_lost() {
    let (disk, file) = disk_with_file();
    let new = disk.open(Path::new("/d/new"), OpenMode::Create).unwrap();
    new.write_all_at(b"new", 0).unwrap();
    new.sync_data().unwrap();
    disk.rename(Path::new("/d/new"), Path::new("/d/f")).unwrap();
    let mut lost = 0;
    for seed in 0..200 {
        let image = disk.crash_image(CrashPolicy::Seeded(seed));
        match read(&image, "/d/f").len() {
            3 => assert_eq!(image.list(Path::new("/d")).unwrap(), ["f"]),
            4096 => lost += 1,
            size => panic!("neither the old file nor the new one: {size} bytes"),
        }
    }
    assert!((1..200).contains(&lost));
    disk.sync_dir(Path::new("/d")).unwrap();
    assert_eq!(read(&disk.crash_image(CrashPolicy::DropAll), "/d/f"), b"new");
    assert_eq!(file.size().unwrap(), 4096, "an open file outlives its name");
}

#[test]
fn bytes_of_a_failed_sync_are_read_but_never_become_durable_by_themselves() {
    let (disk, file) = disk_with_file();
    file.write_all_at(&[2; 512], 0).unwrap();
    disk.fail(Failure { op: Op::Sync, nth: 1, errno: libc::EIO, for_ever: false });
    assert_eq!(file.sync_data().unwrap_err().raw_os_error(), Some(libc::EIO));
    file.sync_data().unwrap();
    assert_eq!(read(&disk.kill_image(), "/d/f")[0], 2);
    assert_eq!(read(&disk.crash_image(CrashPolicy::KeepAll), "/d/f")[0], 1);
    file.write_all_at(&[2; 512], 0).unwrap();
    file.sync_data().unwrap();
    assert_eq!(read(&disk.crash_image(CrashPolicy::DropAll), "/d/f")[0], 2);
}

#[test]
fn after_the_crash_everything_fails_and_the_operation_in_flight_may_be_there() {
    let (disk, file) = disk_with_file();
    disk.crash_at(disk.num_ops() + 2);
    file.write_all_at(&[2; 512], 0).unwrap();
    file.write_all_at(&[3; 512], 512).unwrap_err();
    assert!(disk.is_dead());
    assert_eq!(disk.trace().last().map(|last| (last.op, last.bytes)), Some((Op::Write, 512)));
    file.read_at(&mut [0], 0).unwrap_err();
    file.sync_data().unwrap_err();
    disk.list(Path::new("/d")).unwrap_err();
    disk.open(Path::new("/d/f"), OpenMode::Read).err().unwrap();
    let image = read(&disk.crash_image(CrashPolicy::KeepAll), "/d/f");
    assert_eq!((image[0], image[512]), (2, 3));
}

#[test]
fn a_full_disk_takes_what_fits_and_takes_more_when_room_is_made() {
    let (disk, file) = disk_with_file();
    disk.set_capacity(Some(5000));
    assert_eq!(disk.free_bytes(Path::new("/d")).unwrap(), 904);
    let other = disk.open(Path::new("/d/other"), OpenMode::Create).unwrap();
    assert_eq!(other.allocate(905).unwrap_err().raw_os_error(), Some(libc::ENOSPC));
    other.allocate(900).unwrap();
    assert_eq!(disk.free_bytes(Path::new("/d")).unwrap(), 4);
    assert_eq!(file.write_all_at(&[5; 10], 4096).unwrap_err().raw_os_error(), Some(libc::ENOSPC));
    assert_eq!(file.size().unwrap(), 4100);
    other.write_all_at(&[6; 900], 0).unwrap();
    disk.remove_file(Path::new("/d/other")).unwrap();
    file.write_all_at(&[5; 10], 4096).unwrap();
}

#[test]
fn a_removed_tree_comes_back_in_part_until_its_parent_is_synced() {
    let (disk, _) = disk_with_file();
    disk.create_dir_all(Path::new("/d/a/b")).unwrap();
    disk.open(Path::new("/d/a/b/f"), OpenMode::Create).unwrap();
    for folder in ["/d/a/b", "/d/a", "/d"] {
        disk.sync_dir(Path::new(folder)).unwrap();
    }
    disk.remove_dir_all(Path::new("/d/a")).unwrap();
    assert!(!disk.exists(Path::new("/d/a")).unwrap());
    assert!(disk.crash_image(CrashPolicy::DropAll).exists(Path::new("/d/a/b/f")).unwrap());
    disk.sync_dir(Path::new("/d")).unwrap();
    assert_eq!(disk.crash_image(CrashPolicy::DropAll).list(Path::new("/d")).unwrap(), ["f"]);
}

#[test]
fn a_lock_is_exclusive_and_dies_with_the_process() {
    let disk = FaultyDisk::new();
    let path = Path::new("/lock");
    let held = disk.lock(path).unwrap();
    assert_eq!(disk.lock(path).err().unwrap().kind(), io::ErrorKind::WouldBlock);
    disk.kill_image().lock(path).unwrap();
    drop(held);
    disk.lock(path).unwrap();
}

#[test]
fn a_cut_file_reads_zeros_when_it_grows_again_and_a_map_sees_writes() {
    let (disk, file) = disk_with_file();
    let map = file.map(1 << 20).unwrap();
    file.set_size(100).unwrap();
    file.set_size(300).unwrap();
    assert_eq!(&map.slice(99, 102).unwrap()[..], [1, 0, 0]);
    assert_eq!(map.slice(0, 301).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    file.write_all_at(&[9; 10_000], 200).unwrap();
    assert_eq!(&map.slice(199, 201).unwrap()[..], [0, 9]);
    map.prefault(0, 10_200).unwrap();
    file.sync_data().unwrap();
    assert_eq!(read(&disk.crash_image(CrashPolicy::DropAll), "/d/f"), read(&disk, "/d/f"));
}
