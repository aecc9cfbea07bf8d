select 1;
-- note
select 2;
